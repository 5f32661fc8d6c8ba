// Says which metrics and labels a PromQL expression names: an expression a line on stdin, an answer a line on stdout, {"metrics": {name: [labels]}} or {"error": ...}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/prometheus/prometheus/promql/parser"
)

type answer struct {
	Metrics map[string][]string `json:"metrics,omitempty"`
	Error   string              `json:"error,omitempty"`
}

func read(expression string) answer {
	tree, err := parser.NewParser(parser.Options{}).ParseExpr(expression)
	if err != nil {
		return answer{Error: err.Error()}
	}
	metrics := map[string][]string{}
	parser.Inspect(tree, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			labels := metrics[selector.Name]
			for _, matcher := range selector.LabelMatchers {
				if matcher.Name != "__name__" {
					labels = append(labels, matcher.Name)
				}
			}
			metrics[selector.Name] = append([]string{}, labels...)
		}
		return nil
	})
	return answer{Metrics: metrics}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		text, err := json.Marshal(read(lines.Text()))
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}
