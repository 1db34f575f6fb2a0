// A Go program for tests/it/live_pprof.rs: one structure behind one mutex that many goroutines wait for, workers that
// nobody reads from, and a page that answers everything else. Standard library only.
//
// The contended structure is that of the project's own recordings (profiles/programs/mutex and leak), where its dumps are
// described. Whoever asks for goroutines makes 30 more of them leak first, so that they grow from dump to dump without a
// clock.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/http/pprof"
	"runtime"
	"sync"
)

// Ledger is one shared structure guarded by one mutex.
type Ledger struct {
	mu    sync.Mutex
	total int64
}

//go:noinline
func (l *Ledger) Add(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total += n
}

//go:noinline
func handleOrder(l *Ledger) { l.Add(1) }

//go:noinline
func (l *Ledger) holdWhileSlow(held chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(held)
	select {}
}

type reply struct{ body []byte }

//go:noinline
func waitForReply(ch chan reply) {
	r := <-ch
	_ = r
}

var (
	leaking sync.Mutex
	leaked  int
)

//go:noinline
func leak(n int) {
	leaking.Lock()
	defer leaking.Unlock()
	for i := 0; i < n; i++ {
		go waitForReply(make(chan reply))
	}
	leaked += n
	// A goroutine that has not run yet stands at no channel: a dump on a busy machine would miss it.
	for buffer := make([]byte, 16<<20); ; runtime.Gosched() {
		stacks := buffer[:runtime.Stack(buffer, true)]
		if bytes.Count(stacks, []byte("[chan receive]:\nmain.waitForReply")) >= leaked {
			return
		}
	}
}

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "")
	orders := flag.Int("orders", 400, "goroutines that wait for the mutex")
	flag.Parse()
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	l := &Ledger{}
	held := make(chan struct{})
	go l.holdWhileSlow(held)
	<-held
	for i := 0; i < *orders; i++ {
		go handleOrder(l)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/goroutine", func(w http.ResponseWriter, r *http.Request) {
		leak(30)
		pprof.Handler("goroutine").ServeHTTP(w, r)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!DOCTYPE html><html><body>shop</body></html>")
	})
	log.Fatal(http.ListenAndServe(*addr, mux))
}
