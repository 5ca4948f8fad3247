// What GitOps tools make of a Kubernetes object, by their own code: kstatus, and a health script for Argo CD in the
// interpreter that Argo CD has. Reads one object as JSON per line, answers with one line each, in order.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type said struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

type answer struct {
	Kstatus said `json:"kstatus"`
	Argo    said `json:"argo"`
}

func main() {
	if err := judge(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func judge(scriptFile string) error {
	script, err := os.ReadFile(scriptFile)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 4<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(lines.Bytes()); err != nil {
			return err
		}
		result, err := status.Compute(object)
		if err != nil {
			return err
		}
		health, err := healthOf(string(script), object)
		if err != nil {
			return err
		}
		kstatus := said{string(result.Status), result.Message}
		if err := answers.Encode(answer{kstatus, health}); err != nil {
			return err
		}
	}
	return lines.Err()
}

// As util/lua of Argo CD does it where useOpenLibs is not set: no strings, no mathematics, no files.
func healthOf(script string, object *unstructured.Unstructured) (said, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable,
	} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return said{}, err
		}
	}
	state.SetGlobal("obj", toLua(state, object.Object))
	if err := state.DoString(script); err != nil {
		return said{}, err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return said{}, fmt.Errorf("expected the script to return a table, got %s", state.Get(-1).Type())
	}
	return said{table.RawGetString("status").String(), table.RawGetString("message").String()}, nil
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch known := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, each := range known {
			table.RawSetString(key, toLua(state, each))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, each := range known {
			table.Append(toLua(state, each))
		}
		return table
	case string:
		return lua.LString(known)
	case bool:
		return lua.LBool(known)
	case int64:
		return lua.LNumber(known)
	case float64:
		return lua.LNumber(known)
	default:
		return lua.LNil
	}
}
