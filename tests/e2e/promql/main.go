// Says which metrics a PromQL expression names, and of each which labels, in its matchers and in what is made of it (by, without, on, ignoring): an expression a line on stdin, an answer a line on stdout, {"metrics": {name: [labels]}} or {"error": ...}.
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
	parser.Inspect(tree, func(node parser.Node, above []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		labels := append([]string{}, metrics[selector.Name]...)
		for _, matcher := range selector.LabelMatchers {
			if matcher.Name != "__name__" {
				labels = append(labels, matcher.Name)
			}
		}
		for _, around := range above {
			switch around := around.(type) {
			case *parser.AggregateExpr: // by (...), without (...)
				labels = append(labels, around.Grouping...)
			case *parser.BinaryExpr: // on (...), ignoring (...)
				if around.VectorMatching != nil {
					labels = append(labels, around.VectorMatching.MatchingLabels...)
				}
			}
		}
		metrics[selector.Name] = labels
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
