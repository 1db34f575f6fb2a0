# 단위가 붙는 숫자(src/base/units.rs). 한국어에서는 숫자와 단위를 붙여 씁니다.
unit-ns = ns
unit-us = µs
unit-ms = ms
unit-s = 초
unit-min = 분
unit-h = 시간
unit-d = 일
unit-gap = {""}
unit-percent = %
unit-unknown = 알 수 없음
list-and = { $first }, { $last }
