// A program for pods of tests, static and without a shell: a server, a client, files on a shared volume.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const usage = `usage: toy COMMAND
  serve ADDRESS        answers its pod's name; /ready (503 after /unready, 200 after /ready-again), /exit ends it with 1
  files ADDRESS DIR    serves the files of a folder, ranges too
  store ADDRESS DIR CERTIFICATE KEY   the same over TLS; port 9000: {folder: {client: bytes that it was given}}
  get URL DEADLINE     prints the answer; asks again until there is one
  load URL             asks until it is told to end, each time on a new connection; prints {"good", "bad", "errors"}
  stream URL COUNT     that many clients ask for completions, streamed, on new connections; port 9000: the tally, /stop ends it
  proxy ADDRESS TO     hands connections on; told to end, it first lets those that are open end
  dial ADDRESS         prints "open" or "closed: why"
  write FILE TEXT      writes a file, then waits to be told to end
  read FILE DEADLINE   prints a file; waits until it is there
  wait                 waits to be told to end
  install FILE         copies this program to FILE`

func main() {
	if len(os.Args) < 2 {
		fail(usage)
	}
	arguments := os.Args[2:]
	need := func(count int) {
		if len(arguments) != count {
			fail(usage)
		}
	}
	switch os.Args[1] {
	case "serve":
		need(1)
		serve(arguments[0])
	case "files":
		need(2)
		listen(arguments[0], http.FileServer(http.Dir(arguments[1])))
	case "store":
		need(4)
		store(arguments[0], arguments[1], arguments[2], arguments[3])
	case "get":
		need(2)
		fmt.Print(eventually(arguments[1], func() (string, error) { return get(arguments[0]) }))
	case "load":
		need(1)
		load(arguments[0])
	case "stream":
		need(2)
		stream(arguments[0], arguments[1])
	case "proxy":
		need(2)
		proxy(arguments[0], arguments[1])
	case "dial":
		need(1)
		if connection, err := net.DialTimeout("tcp", arguments[0], 3*time.Second); err != nil {
			fmt.Println("closed:", err)
		} else {
			connection.Close()
			fmt.Println("open")
		}
	case "write":
		need(2)
		if err := os.WriteFile(arguments[0], []byte(arguments[1]), 0o644); err != nil {
			fail(err.Error())
		}
		<-ended()
	case "read":
		need(2)
		fmt.Print(eventually(arguments[1], func() (string, error) {
			text, err := os.ReadFile(arguments[0])
			return string(text), err
		}))
	case "wait":
		<-ended()
	case "install":
		need(1)
		install(arguments[0])
	default:
		fail(usage)
	}
}

func serve(address string) {
	var unready atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, os.Getenv("HOSTNAME")) })
	mux.HandleFunc("/unready", func(http.ResponseWriter, *http.Request) { unready.Store(true) })
	mux.HandleFunc("/ready-again", func(http.ResponseWriter, *http.Request) { unready.Store(false) })
	mux.HandleFunc("/exit", func(http.ResponseWriter, *http.Request) { os.Exit(1) })
	mux.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) {
		if unready.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	listen(address, mux)
}

func listen(address string, handler http.Handler) {
	server := &http.Server{Addr: address, Handler: handler}
	stopped := make(chan struct{})
	go func() {
		<-ended()
		_ = server.Shutdown(context.Background())
		close(stopped)
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		fail(err.Error())
	}
	<-stopped
}

func proxy(address, target string) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fail(err.Error())
	}
	go func() {
		<-ended()
		listener.Close()
	}()
	var open sync.WaitGroup
	defer open.Wait()
	for {
		outer, err := listener.Accept()
		if err != nil {
			return
		}
		open.Add(1)
		go func() {
			defer open.Done()
			handOn(outer.(*net.TCPConn), target)
		}()
	}
}

func handOn(outer *net.TCPConn, target string) {
	defer outer.Close()
	found, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	inner := found.(*net.TCPConn)
	defer inner.Close()
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(inner, outer)
		_ = inner.CloseWrite()
		close(done)
	}()
	_, _ = io.Copy(outer, inner)
	_ = outer.CloseWrite()
	<-done
}

func get(url string) (string, error) {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", answer.StatusCode, text)
	}
	return string(text), err
}

func load(url string) {
	done := ended()
	counts := struct {
		Good   map[string]int `json:"good"`
		Bad    int            `json:"bad"`
		Errors []string       `json:"errors"`
	}{map[string]int{}, 0, nil}
	for {
		select {
		case <-done:
			_ = json.NewEncoder(os.Stdout).Encode(counts)
			return
		default:
		}
		if text, err := get(url); err != nil {
			counts.Bad++
			if len(counts.Errors) < 10 {
				counts.Errors = append(counts.Errors, err.Error())
			}
		} else {
			counts.Good[strings.TrimSpace(text)]++
		}
	}
}

func eventually(deadline string, ask func() (string, error)) string {
	limit, err := time.ParseDuration(deadline)
	if err != nil {
		fail(err.Error())
	}
	for end := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		text, err := ask()
		if err == nil {
			return text
		}
		if time.Now().After(end) {
			fail(err.Error())
		}
	}
}

func install(target string) {
	program, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(target, program, 0o755)
	}
	if err != nil {
		fail(err.Error())
	}
}

func ended() <-chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	return signals
}

func fail(why string) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(2)
}
