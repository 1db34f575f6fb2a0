# Dumps and profiles
dump-none-title = No profile in this recording
dump-none-why = A goroutine dump shows what every goroutine waits for, since when, and in which code. It is what tells a lock from a slow network. Fetch one while it hurts, put it into the folder of the incident and open that again:
dump-none-stops = debug=2 stops the whole process while it is written: about 1 s for every 1,500 goroutines in old Go versions. Fetch it on purpose, not in a loop.
dump-none-cheap = Without states and lock addresses, but almost free for the process; two of these, a minute apart, show what grows:
dump-none-where = The same address serves heap, mutex, block and profile?seconds=10 (CPU). ingress-nginx listens on port 10254. pprof files (profile.proto) of other programs are read, too.
dump-copy-command = Copy the command
dump-copied = Copied
dump-empty-title = This profile holds no samples
dump-empty-mutex = That does not say that nothing waited: mutex profiling is off unless the program calls runtime.SetMutexProfileFraction.
dump-empty-block = That does not say that nothing waited: block profiling is off unless the program calls runtime.SetBlockProfileRate, and waits that have not ended are never in it.
dump-empty-cpu = The process was idle while it was profiled, or the profiler got no timer signals.
dump-empty-other = Nothing was counted, or nothing was kept of it.
dump-preparing = Preparing…
dump-failed = This profile could not be prepared: { $why }
dump-no-time = no time
dump-no-process = process not named
dump-class-lock = lock
dump-class-handoff = lock hand-off
dump-class-wait-group = wait group
dump-class-condition = condition
dump-class-channel = channel
dump-class-select = select
dump-class-io = network or file
dump-class-syscall = system call
dump-class-sleep = sleep
dump-class-pool = pool
dump-class-running = running
dump-class-other = other
dump-series-hint = Those below count the same thing in the same form and can be compared.
dump-profile-name = { $kind } { $form }, { $time }, total { $total }, { $input }
dump-is-open = Open (A).
dump-like-same = Same process, kind and form: can be compared (Shift+click, Shift+Enter, or the plus at the right).
dump-like-other = Same process and kind, but another form: one leaves frames out that the other shows, so compare with care.
dump-like-no = Another process, kind or unit: cannot be compared with the open one.
dump-compare-with = Compare with { $what }
dump-compare-end = End the comparison
dump-swap = Swap A and B
dump-swap-hint = Look at it from the other side: A becomes B
dump-title-one = { $kind } { $form } · { $time } · total { $total } · { $process }
dump-title-two = A { $time_a }: { $total_a }  →  B { $time_b }: { $total_b } ({ $ratio }) · { $kind } · { $process }
dump-time-assumed = The time is that of the file's name: nothing in the file says when it was taken.
dump-time-unknown = Nothing says when this was taken.
dump-mode = Show as
dump-mode-groups = Groups
dump-mode-flame = Flame graph
dump-mode-functions = Functions
dump-grouping = Group by
dump-by-stack = Stack
dump-by-state = State
dump-by-lock = Lock
dump-by-user = User frame
dump-by-creator = Created by
dump-filter = Filter groups
dump-search = Search functions
dump-scale = Difference in
dump-scale-share = Shares
dump-scale-absolute = Values
dump-col-count = Count
dump-col-total = Total
dump-col-self = Self
dump-col-b-a = B - A
dump-col-previous = Since previous
dump-groups =
    { $count ->
        [one] { $n } group
       *[other] { $n } groups
    }
dump-groups-of = { $n } of { $all } groups
dump-no-locks = This dump has no lock addresses: only debug=2 prints them.
dump-no-match = Nothing matches.
dump-no-lock = No lock address
dump-no-creator = Creator not recorded
dump-mostly = mostly { $state }
dump-stacks = { $n } stacks
dump-waited = waits ≥ { $time }
dump-lock = lock { $lock }
dump-locks = { $n } locks
dump-has-holder = likely holder found
dump-in = in { $site }
dump-change = change { $by }
dump-copy-stack = Copy the stack
dump-stack-title = { $n } × { $state }
dump-stack-of = {" "}· largest of { $n } stacks
dump-gone = Gone in the open dump; last seen at { $time }.
dump-fact-wait = Longest wait
dump-fact-labels = Labels
dump-first = {" "}· goroutine { $id }
dump-lock-waiting = { $lock }: { $n } wait
dump-more-locks =
    { $count ->
        [one] and { $n } more lock
       *[other] and { $n } more locks
    }
dump-holder = Likely holder: goroutine { $id }in { $site } ({ $state })
dump-holder-object = One of its frames works on the very object that holds the lock. The runtime does not say who holds a lock: this is likely, not certain.
dump-holder-type = One of its frames is a method of the type that takes the lock. The runtime does not say who holds a lock: this is a guess.
dump-holder-near = One of its frames has a pointer to shortly before the lock. The runtime does not say who holds a lock: this is a weak guess.
dump-holder-unknown = Holder not visible in this dump
dump-holder-cycle = The chain of locks comes back to itself: a deadlock.
dump-holder-chain = Found through a chain of { $n } locks
dump-no-frames = No frames were recorded for this group.
dump-mark-site = waits at
dump-mark-user = user code
dump-created-by = created by { $by }
dump-all = All
dump-unnamed = (no name)
dump-root = (start of the stack)
dump-zoom-all = Show all again
dump-flame-hint = Click or Enter zooms, Esc goes back, arrows move between frames
dump-flame-name = Flame graph: { $frame }
dump-matches =
    { $count ->
        [one] { $n } function, { $share }
       *[other] { $n } functions, { $share }
    }
dump-less = less in B
dump-more = more in B
dump-totals-differ = Totals differ: A { $a }, B { $b }
dump-left-out = Negative values ({ $n }) have no width and are not drawn.
dump-points = { $n } pp
dump-functions =
    { $count ->
        [one] { $n } function
       *[other] { $n } functions
    }
dump-sort-by = Sort by { $what }
dump-callers = Called by
dump-callees = Calls
dump-none-of-them = None
dump-show-in-flame = Show in the flame graph
