# shell
status-inputs = { $n ->
    [one] { $n } input
   *[other] { $n } inputs
}
