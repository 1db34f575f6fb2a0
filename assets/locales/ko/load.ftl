# Opening, and what is kept between starts
load-restored = { $time }의 메모와 화면 구성을 복원했습니다
load-restored-crash = { $time }의 메모와 화면 구성을 복원했습니다. 창이 정상적으로 닫히지 않았습니다
load-aside-broken = 저장된 상태를 읽을 수 없어 { $path }(으)로 옮겨 두었습니다
load-aside-newer = 저장된 상태가 더 새로운 버전의 것이어서 { $path }(으)로 옮겨 두었습니다
load-aside-stuck = 저장된 상태를 읽을 수도 옮길 수도 없습니다({ $why }): { $path }
load-save-failed = 메모와 화면 구성을 저장할 수 없습니다: { $why }
load-reload-failed = 다시 읽었지만 쓸 수 있는 입력이 없어 이전 내용을 유지합니다
