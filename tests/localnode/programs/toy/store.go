package main

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
)

// Bytes of each folder that each client was given, by the folder and the client's address.
type given struct {
	sync.Mutex
	bytes map[string]map[string]int64
}

// Serves a folder's files over TLS, ranges too; port 9000 says who was given how much of it.
func store(address, folder, certificate, key string) {
	seen := &given{bytes: map[string]map[string]int64{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/", seen.tell)
	go listen(tallyAddress, mux)
	files := http.FileServer(http.Dir(folder))
	server := &http.Server{Addr: address, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client, _, _ := net.SplitHostPort(r.RemoteAddr)
		folder, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		files.ServeHTTP(&counting{w, seen, folder, client}, r)
	})}
	go func() {
		<-ended()
		server.Close()
	}()
	if err := server.ListenAndServeTLS(certificate, key); err != http.ErrServerClosed {
		fail(err.Error())
	}
}

type counting struct {
	http.ResponseWriter
	seen           *given
	folder, client string
}

func (to *counting) Write(data []byte) (int, error) {
	size, err := to.ResponseWriter.Write(data)
	to.seen.Lock()
	defer to.seen.Unlock()
	if to.seen.bytes[to.folder] == nil {
		to.seen.bytes[to.folder] = map[string]int64{}
	}
	to.seen.bytes[to.folder][to.client] += int64(size)
	return size, err
}

func (seen *given) tell(w http.ResponseWriter, _ *http.Request) {
	seen.Lock()
	defer seen.Unlock()
	_ = json.NewEncoder(w).Encode(seen.bytes)
}
