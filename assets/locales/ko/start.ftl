# 시작 화면
start-what = 무엇이 빠졌고, 무엇이 이상하며, 무엇으로 설명되는지 봅니다
start-open = 열기
start-open-button = 파일 또는 폴더 열기…
start-drop = 파일, 폴더, 압축 파일, 번들을 이 창 어디에나 끌어다 놓을 수 있습니다
start-formats = Prometheus·X-Ray·nginx 기록, Go 덤프와 프로파일, 이벤트 목록
start-palette = 전체 검색 (Ctrl+K)
start-keys = 단축키 (?)
start-samples = 예제 인시던트
start-sample-open = 예제 { $name } 열기
start-recent = 최근 항목
start-recent-none = 연 항목이 여기에 표시됩니다
start-recent-open = { $name } 다시 열기
start-missing = 더 이상 없습니다: { $path }
start-forget = 목록에서 { $name } 제거

# 읽는 동안
progress-title = { $name } 읽는 중
progress-analysing = 원인을 찾는 중
progress-counts = 입력 { $found }개 중 { $read }개 읽음 · { $bytes }
progress-cancel = 취소
progress-bar = 읽은 입력의 비율

# 쓸 만한 것이 없을 때
failed-title = 읽을 수 있는 내용이 없습니다
failed-empty = 파일을 찾지 못했습니다
failed-what-to-do = 인시던트 기록이 든 폴더를 여십시오: Prometheus나 X-Ray 응답, 액세스 로그, 덤프, 변경 목록. "tailscope inspect" 명령으로 각 파일이 어떻게 인식되는지 볼 수 있습니다.
failed-open = 다른 항목 열기…
failed-again = 다시 시도
failed-copy = 사유 복사
failed-back = 돌아가기
failed-more = 외 { $n }건

# 끌어다 놓기
drop-open = { $n ->
    [one] 놓으면 엽니다
   *[other] 놓으면 { $n }개 항목을 엽니다
}
drop-what = 파일, 폴더, 압축 파일, 번들
drop-replaces = 지금 연 인시던트를 대신합니다. 메모는 보존됩니다

# 열기·저장 대화상자
files-open-title = 인시던트 열기
files-save-title = 인시던트 타임라인 내보내기
files-up = 상위 폴더
files-hidden = 숨김 파일
files-path = 경로, Tab으로 완성
files-list = 이 폴더의 파일
files-empty = 그런 이름의 항목이 없습니다
files-wait = 폴더를 읽는 중…
files-missing = 이 폴더에 { $name } 항목이 없습니다
files-no-name = 파일 이름을 입력하십시오
files-form = 형식
files-open = 열기
files-open-folder = 이 폴더 열기
files-open-picked = { $n }개 항목 열기
files-save = 내보내기
files-writing = 쓰는 중…
files-cancel = 취소
files-exists = { $name } 파일이 이미 있습니다
files-replace = 바꾸기
files-keep = 이름 변경
files-left-out = { $n }개는 목록에 없습니다. 이름을 입력해 좁히십시오
files-keys = Tab 완성 · 아래 화살표 목록 · Space 여러 개 선택 · Ctrl+Enter 열기
files-keys-save = Tab 완성 · 아래 화살표 목록 · Enter 내보내기

# 팔레트
palette-hint = 명령, 원인, 발견 사항, 레인, 서비스, 시리즈, 트레이스 검색…
palette-none = "{ $query }"에 해당하는 항목이 없습니다
palette-wait = 검색 중…
palette-count = { $total }개 중 { $shown }개
palette-keys = 위·아래 화살표로 선택 · Enter로 실행 · Esc로 닫기
palette-kind-command = 명령
palette-kind-cause = 원인
palette-kind-finding = 발견 사항
palette-kind-lane = 레인
palette-kind-service = 서비스
palette-kind-entity = 엔티티
palette-kind-table = 표
palette-kind-event = 이벤트
palette-kind-series = 시리즈
palette-kind-trace = 트레이스
palette-kind-recent = 최근 항목
palette-kind-theme = 테마
palette-kind-language = 언어
palette-kind-zone = 시간대
sheet-title = 키보드 단축키
sheet-search = 단축키 검색
sheet-close = 닫기
