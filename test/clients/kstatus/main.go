// Computes the status of Kubernetes objects as kstatus does: reads one object as JSON from each line of its input, and writes one line
// with the status and the message.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// Longest line, in bytes: the largest object that etcd stores, with a margin.
const maxLine = 4 << 20

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, maxLine)
	results := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(lines.Bytes()); err != nil {
			log.Fatal(err)
		}
		result, err := status.Compute(object)
		if err != nil {
			log.Fatal(err)
		}
		if err := results.Encode(map[string]string{"status": result.Status.String(), "message": result.Message}); err != nil {
			log.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}
