package serve

import (
	_ "embed"
	"encoding/json"
	"net/http"
)

//go:embed openapi.json
var openAPIText []byte

// openAPI is the description of the API (OpenAPI 3.1).
func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, json.RawMessage(openAPIText))
}
