package runhistory

import "fmt"

// An Error is a call or an event that was refused. Its text is the message; goa-ai's own texts are kept word for word.
type Error struct {
	// Code is a code of memcell's table, or of the plugin run-history.
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Issues  []Issue `json:"issues"`
}

// An Issue is what is wrong with one field.
type Issue struct {
	Field   string `json:"field"`
	Value   string `json:"value"`
	Allowed string `json:"allowed"`
}

func (e *Error) Error() string { return e.Message }

func fault(code, format string, values ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, values...)}
}
