# shell
status-inputs = 입력 { $n }개
