package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"memcell-host/runhistory"
)

func TestAnEndedContextStoresNothing(t *testing.T) {
	store := openStore(t)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	expired, stop := context.WithTimeout(context.Background(), -time.Second)
	defer stop()
	for ctx, want := range map[context.Context]error{cancelled: context.Canceled, expired: context.DeadlineExceeded} {
		_, loading := store.LoadRun(ctx, "agent", "run")
		for _, err := range []error{store.AppendEvents(ctx, "agent", "run", note("never")), loading} {
			if !errors.Is(err, want) {
				t.Error(err)
			}
		}
	}
	expectEqual(t, "events", len(load(t, store, "agent", "run").Events), 0)
}

// holdLock takes the lock of the test's user, like another process, until release is called.
func holdLock(t *testing.T) (release func()) {
	t.Helper()
	file, err := os.OpenFile(lockOf(t.Name()), os.O_RDWR, 0)
	if err == nil {
		err = syscall.FcntlFlock(file.Fd(), lockOfOpenFile, &syscall.Flock_t{Type: syscall.F_WRLCK})
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() { file.Close() }
}

func TestADeadlineEndsTheWaitForAnotherProcess(t *testing.T) {
	store := openStore(t)
	appendAll(t, store, []runhistory.Event{note("first")})
	release := holdLock(t) // never released before the append returns
	ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	if err := store.AppendEvents(ctx, "agent", "run", note("never")); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	expectEqual(t, "notes", notesOf(load(t, store, "agent", "run").Events), []string{"first"}) // reading needs no lock
	release()
	appendAll(t, store, []runhistory.Event{note("second")})
	expectEqual(t, "notes", notesOf(load(t, store, "agent", "run").Events), []string{"first", "second"})
}

func TestAnAppendWaitsForAnotherProcess(t *testing.T) {
	busy := make(chan bool, 1)
	call := callerOf(t, t.Name())
	store := storeWith(t, func(ctx context.Context, tool string, input []byte) ([]byte, error) {
		answer, err := call(ctx, tool, input)
		if strings.Contains(string(answer), `"BUSY"`) {
			select {
			case busy <- true:
			default:
			}
		}
		return answer, err
	})
	appendAll(t, store, []runhistory.Event{note("first")})
	release := holdLock(t)
	appended := make(chan error)
	go func() { appended <- store.AppendEvents(context.Background(), "agent", "run", note("second")) }()
	<-busy
	release()
	expectEqual(t, "error", <-appended, nil)
	expectEqual(t, "notes", notesOf(load(t, store, "agent", "run").Events), []string{"first", "second"})
}

func TestACancelledContextEndsTheWaitForAnotherGoroutine(t *testing.T) {
	call := callerOf(t, t.Name())
	entered, leave := make(chan bool), make(chan bool)
	store := storeWith(t, func(ctx context.Context, tool string, input []byte) ([]byte, error) {
		if strings.Contains(string(input), "slow") {
			entered <- true
			<-leave
		}
		return call(ctx, tool, input)
	})
	appended, waited := make(chan error), make(chan error)
	go func() { appended <- store.AppendEvents(context.Background(), "agent", "run", note("slow")) }()
	<-entered
	ctx, cancel := context.WithCancel(context.Background())
	go func() { waited <- store.AppendEvents(ctx, "agent", "run", note("never")) }()
	cancel()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	leave <- true
	expectEqual(t, "error", <-appended, nil)
	expectEqual(t, "notes", len(load(t, store, "agent", "run").Events), 1)
}

// captureStdout returns a function that ends the capture and returns what was printed. A program's output can be a protocol.
func captureStdout(t *testing.T) (printed func() string) {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	t.Cleanup(func() { os.Stdout = stdout })
	os.Stdout = file
	return func() string {
		text, err := os.ReadFile(file.Name())
		if err = errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// Contexts end at random moments of an append. It has stored its event exactly if it returns no error.
func TestAnAppendIsStoredOrReturnsTheErrorOfItsContext(t *testing.T) {
	store := openStore(t)
	appendAll(t, store, []runhistory.Event{note("first")})
	want, printed := []string{"first"}, captureStdout(t)
	for number := range 200 {
		ctx, stop := context.WithTimeout(context.Background(), rand.N(20*time.Millisecond))
		name := fmt.Sprint(number)
		err := store.AppendEvents(ctx, "agent", "run", note(name))
		if err == nil {
			want = append(want, name)
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		stop()
	}
	expectEqual(t, "standard output", printed(), "")
	t.Logf("%d of 200 were stored", len(want)-1)
	expectEqual(t, "notes", notesOf(load(t, store, "agent", "run").Events), want)
}
