module goa.design/goa-ai

go 1.25.0
