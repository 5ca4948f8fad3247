package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	tallyAddress    = ":9000"
	maxTokens       = 12
	requestDeadline = 60 * time.Second
)

var prompts = []string{"2+2=", "the capital of France is", "once upon a time", "def main():"}

// What the clients saw. A request that got no complete answer is failed; none is repeated.
type tally struct {
	sync.Mutex
	Requests   int                       `json:"requests"`
	Failed     int                       `json:"failed"`
	Complaints []string                  `json:"complaints"` // the first few
	Answers    map[string]map[string]int `json:"answers"`    // prompt, text, how often
}

func stream(url, count string) {
	clients, err := strconv.Atoi(count)
	if err != nil {
		fail(err.Error())
	}
	seen := &tally{Complaints: []string{}, Answers: map[string]map[string]int{}}
	stop := make(chan struct{})
	var once sync.Once
	var running sync.WaitGroup
	for client := 0; client < clients; client++ {
		running.Add(1)
		go func() {
			defer running.Done()
			for turn := client; ; turn++ {
				select {
				case <-stop:
					return
				default:
					seen.take(prompts[turn%len(prompts)], url)
				}
			}
		}()
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", seen.tell)
	mux.HandleFunc("/stop", func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() { close(stop) })
		running.Wait()
		seen.tell(w, r)
	})
	listen(tallyAddress, mux)
}

func (seen *tally) tell(w http.ResponseWriter, _ *http.Request) {
	seen.Lock()
	defer seen.Unlock()
	_ = json.NewEncoder(w).Encode(seen)
}

func (seen *tally) take(prompt, url string) {
	text, err := complete(prompt, url)
	seen.Lock()
	defer seen.Unlock()
	seen.Requests++
	if err != nil {
		seen.Failed++
		if len(seen.Complaints) < 20 {
			seen.Complaints = append(seen.Complaints, err.Error())
		}
		return
	}
	if seen.Answers[prompt] == nil {
		seen.Answers[prompt] = map[string]int{}
	}
	seen.Answers[prompt][text]++
}

// One completion, streamed: its whole text, or why there is none.
func complete(prompt, url string) (string, error) {
	body, _ := json.Marshal(map[string]any{"prompt": prompt, "max_tokens": maxTokens, "stream": true})
	client := &http.Client{Timeout: requestDeadline, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Post(url+"/v1/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(answer.Body, 200))
		return "", fmt.Errorf("status %d: %s", answer.StatusCode, said)
	}
	var text strings.Builder
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		data, found := strings.CutPrefix(strings.TrimSpace(lines.Text()), "data: ")
		if !found {
			continue
		}
		if data == "[DONE]" {
			return text.String(), nil
		}
		var event struct {
			Error   any `json:"error"`
			Choices []struct {
				Text   string `json:"text"`
				Reason string `json:"finish_reason"`
			} `json:"choices"`
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			return "", fmt.Errorf("%q: %w", data, err)
		}
		if event.Error != nil || len(event.Choices) == 0 {
			return "", fmt.Errorf("error in mid-stream: %s", data)
		}
		text.WriteString(event.Choices[0].Text)
		if event.Choices[0].Reason == "abort" {
			return "", fmt.Errorf("aborted after %q", text.String())
		}
	}
	return "", fmt.Errorf("cut after %q: %v", text.String(), lines.Err())
}
