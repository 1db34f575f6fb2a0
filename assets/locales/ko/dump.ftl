# 덤프와 프로파일
dump-none-title = 이 기록에는 프로파일이 없습니다
dump-none-why = 고루틴 덤프는 모든 고루틴이 무엇을, 언제부터, 어느 코드에서 기다리는지 보여 줍니다. 락 대기와 느린 네트워크를 구별하는 근거입니다. 문제가 일어나는 동안 받아서 인시던트 폴더에 넣고 다시 여십시오:
dump-none-stops = debug=2는 덤프를 쓰는 동안 프로세스 전체를 멈춥니다. 오래된 Go 버전에서는 고루틴 1,500개당 약 1초입니다. 반복해서 받지 말고 필요할 때만 받으십시오.
dump-none-cheap = 상태와 락 주소는 없지만 프로세스에 거의 부담이 없습니다. 1분 간격으로 두 번 받으면 무엇이 늘어나는지 보입니다:
dump-none-where = 같은 주소에서 heap, mutex, block, profile?seconds=10(CPU)도 받을 수 있습니다. ingress-nginx의 포트는 10254입니다. 다른 프로그램의 pprof 파일(profile.proto)도 읽습니다.
dump-copy-command = 명령 복사
dump-copied = 복사했습니다
dump-empty-title = 이 프로파일에는 샘플이 없습니다
dump-empty-mutex = 기다린 것이 없었다는 뜻은 아닙니다. 프로그램이 runtime.SetMutexProfileFraction을 호출하지 않으면 뮤텍스 프로파일링은 꺼져 있습니다.
dump-empty-block = 기다린 것이 없었다는 뜻은 아닙니다. 프로그램이 runtime.SetBlockProfileRate를 호출하지 않으면 블록 프로파일링은 꺼져 있으며, 끝나지 않은 대기는 기록되지 않습니다.
dump-empty-cpu = 프로파일링하는 동안 프로세스가 유휴 상태였거나 타이머 시그널이 오지 않았습니다.
dump-empty-other = 집계된 것이 없거나 남은 것이 없습니다.
dump-preparing = 준비 중…
dump-failed = 이 프로파일을 준비하지 못했습니다: { $why }
dump-no-time = 시각 없음
dump-no-process = 프로세스 이름 없음
dump-class-lock = 락
dump-class-handoff = 락 넘겨주기
dump-class-wait-group = 대기 그룹
dump-class-condition = 조건 변수
dump-class-channel = 채널
dump-class-select = select
dump-class-io = 네트워크·파일
dump-class-syscall = 시스템 콜
dump-class-sleep = sleep
dump-class-pool = 풀
dump-class-running = 실행 중
dump-class-other = 기타
dump-series-hint = 아래 항목은 같은 것을 같은 형식으로 센 것이므로 서로 비교할 수 있습니다.
dump-profile-name = { $kind } { $form }, { $time }, 합계 { $total }, { $input }
dump-is-open = 열려 있음(A).
dump-like-same = 프로세스·종류·형식이 같아 비교할 수 있습니다(Shift+클릭, Shift+Enter 또는 오른쪽 더하기 단추).
dump-like-other = 프로세스와 종류는 같지만 형식이 다릅니다. 한쪽에 없는 프레임이 있을 수 있으니 주의해서 비교하십시오.
dump-like-no = 프로세스, 종류 또는 단위가 달라 열린 프로파일과 비교할 수 없습니다.
dump-compare-with = 비교 대상: { $what }
dump-compare-end = 비교 끝내기
dump-swap = A와 B 바꾸기
dump-swap-hint = 반대편에서 보기: A가 B가 됩니다
dump-title-one = { $kind } { $form } · { $time } · 합계 { $total } · { $process }
dump-title-two = A { $time_a }: { $total_a }  →  B { $time_b }: { $total_b } ({ $ratio }) · { $kind } · { $process }
dump-time-assumed = 파일 이름에서 얻은 시각입니다. 파일 안에는 언제 받았는지 적혀 있지 않습니다.
dump-time-unknown = 언제 받았는지 알 수 없습니다.
dump-mode = 표시 방식
dump-mode-groups = 그룹
dump-mode-flame = 플레임 그래프
dump-mode-functions = 함수
dump-grouping = 묶는 기준
dump-by-stack = 스택
dump-by-state = 상태
dump-by-lock = 락
dump-by-user = 사용자 프레임
dump-by-creator = 생성한 함수
dump-filter = 그룹 거르기
dump-search = 함수 검색
dump-scale = 차이 기준
dump-scale-share = 비율
dump-scale-absolute = 값
dump-col-count = 개수
dump-col-total = 전체
dump-col-self = 자체
dump-col-b-a = B - A
dump-col-previous = 이전 대비
dump-groups =
    { $count ->
       *[other] 그룹 { $n }개
    }
dump-groups-of = 그룹 { $all }개 중 { $n }개
dump-no-locks = 이 덤프에는 락 주소가 없습니다. debug=2에만 나옵니다.
dump-no-match = 일치하는 항목이 없습니다.
dump-no-lock = 락 주소 없음
dump-no-creator = 생성한 함수 기록 없음
dump-mostly = 주로 { $state }
dump-stacks = 스택 { $n }개
dump-waited = 대기 { $time } 이상
dump-lock = 락 { $lock }
dump-locks = 락 { $n }개
dump-has-holder = 보유자 추정됨
dump-in = 위치 { $site }
dump-change = 변화 { $by }
dump-copy-stack = 스택 복사
dump-stack-title = { $n } × { $state }
dump-stack-of = {" "}· 스택 { $n }개 중 가장 큰 것
dump-gone = 열린 덤프에는 없습니다. 마지막으로 { $time }에 있었습니다.
dump-fact-wait = 가장 긴 대기
dump-fact-labels = 레이블
dump-first = {" "}· 고루틴 { $id }
dump-lock-waiting = { $lock }: { $n }개 대기
dump-more-locks =
    { $count ->
       *[other] 외 락 { $n }개
    }
dump-holder = 보유자(추정): 고루틴 { $id }{ $site } ({ $state })
dump-holder-object = 이 고루틴의 프레임 하나가 락을 가진 바로 그 객체를 다루고 있습니다. 런타임은 락 보유자를 알려 주지 않으므로 확정이 아니라 추정입니다.
dump-holder-type = 이 고루틴의 프레임 하나가 락을 잡는 타입의 메서드입니다. 런타임은 락 보유자를 알려 주지 않으므로 추측입니다.
dump-holder-near = 이 고루틴의 프레임 하나에 락 바로 앞을 가리키는 포인터가 있습니다. 런타임은 락 보유자를 알려 주지 않으므로 근거가 약한 추측입니다.
dump-holder-unknown = 이 덤프에서는 보유자를 알 수 없습니다
dump-holder-cycle = 락의 사슬이 처음으로 돌아옵니다. 교착 상태입니다.
dump-holder-chain = 락 { $n }개의 사슬을 따라 찾았습니다
dump-no-frames = 이 그룹에는 기록된 프레임이 없습니다.
dump-mark-site = 대기 지점
dump-mark-user = 사용자 코드
dump-created-by = 생성: { $by }
dump-all = 전체
dump-unnamed = (이름 없음)
dump-root = (스택의 시작)
dump-zoom-all = 다시 전체 보기
dump-flame-hint = 클릭이나 Enter로 확대, Esc로 되돌아가기, 화살표로 프레임 이동
dump-flame-name = 플레임 그래프: { $frame }
dump-matches =
    { $count ->
       *[other] 함수 { $n }개, { $share }
    }
dump-less = B에서 감소
dump-more = B에서 증가
dump-totals-differ = 합계가 다릅니다: A { $a }, B { $b }
dump-left-out = 음수 값({ $n })은 너비가 없어 그리지 않았습니다.
dump-points = { $n } %p
dump-functions =
    { $count ->
       *[other] 함수 { $n }개
    }
dump-sort-by = { $what } 기준 정렬
dump-callers = 호출한 함수
dump-callees = 호출하는 함수
dump-none-of-them = 없음
dump-show-in-flame = 플레임 그래프에서 보기
