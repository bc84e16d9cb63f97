# Prony is built with the go command alone; these are the shorthands.
# "make help" lists them. GNU make.

.SILENT:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := build
.PHONY: help build run test test-live test-slow check format vet staticcheck policy test-race traceless bench fuzz clean

GO        ?= go
FUZZTIME  ?= 10m
BENCHARGS ?=
# STRICT=1 makes check fail where a tool it needs is missing (for CI).
STRICT    ?=
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

# Our Go files, for gofmt; test data may be wrong on purpose.
gofiles = find . \( -name .git -o -name testdata -o -name node_modules \) -prune -o -name '*.go' -print

# Packages that start goroutines or share memory, found by reading them, so
# that no list has to be kept.
racepkgs = grep -rlE --include='*.go' --exclude-dir=testdata \
	'^[[:space:]]+go [a-zA-Z(]|\.Go\(|"sync"|"sync/atomic"' cmd internal | xargs -r -n1 dirname | sort -u | sed 's,^,./,'

# $(call missing,tool) says that a check could not be made. Never silently: a
# check that did not run has not passed.
missing = { echo "make: SKIPPED: $(1)" >&2; test -z "$(STRICT)"; }

build: ## Build ./prony, one static binary (the default)
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o prony ./cmd/prony

run: build ## Build, then see it work: ./prony demo
	./prony demo

test: ## go vet and all tests
	$(GO) vet ./...
	$(GO) test -timeout 40m ./...

test-live: ## Planted causes and the published experiments, on a machine that does nothing else
	PRONY_LIVE=1 $(GO) test -timeout 60m -run 'TestPlanted|TestPublished' -v ./e2e

test-slow: ## The statistical audits in full, minutes long
	PRONY_SLOW=1 PRONY_LIVE=1 $(GO) test -timeout 60m ./internal/stats ./internal/compare ./internal/capacity ./e2e

check: ## What has to pass before a commit is shared: format, vet, staticcheck, policy, tests, races, no traces
	before=$$($(MAKE) -s --no-print-directory traceless) && \
	$(MAKE) --no-print-directory format vet staticcheck policy && \
	$(GO) test ./... && \
	$(MAKE) --no-print-directory test-race && \
	$(GO) generate ./... && \
	if [ "$$before" != "$$($(MAKE) -s --no-print-directory traceless)" ]; then \
		echo "make: the checks or go generate changed the work tree: commit what is generated, keep tests to t.TempDir" >&2; \
		git --no-optional-locks status --short >&2; exit 1; \
	fi

format:
	bad=$$($(gofiles) | xargs -r $$($(GO) env GOROOT)/bin/gofmt -l) && \
	if [ -n "$$bad" ]; then echo "make: run gofmt -w on:" $$bad >&2; exit 1; fi

vet:
	$(GO) vet ./...

# Pinned in a module of its own; the first run fetches and builds it.
staticcheck:
	if $(GO) tool -modfile=tools/go.mod -n staticcheck >/dev/null 2>&1; then \
		$(GO) tool -modfile=tools/go.mod staticcheck ./...; \
	else \
		$(call missing,staticcheck could not be fetched or built); \
	fi

policy:
	$(GO) test ./internal/deps

# Without the tests that start Docker engines and Java: the detector sees our code only.
test-race: ## Short tests of the concurrent packages under the race detector (needs a C compiler)
	if command -v $$($(GO) env CC) >/dev/null; then \
		packages=$$($(racepkgs)); test -z "$$packages" || CGO_ENABLED=1 $(GO) test -race -short -timeout 25m $$packages; \
	else \
		$(call missing,race tests need a C compiler); \
	fi

# The state of the work tree in one line; the same before and after means that
# nothing was left behind.
traceless:
	if git rev-parse --git-dir >/dev/null 2>&1; then \
		{ git --no-optional-locks status --porcelain -uall; \
		git ls-files -mo --exclude-standard | sort -u | while read -r f; do test ! -f "$$f" || git hash-object -- "$$f"; done; } | git hash-object --stdin; \
	fi

bench: ## Measure Prony itself (BENCHARGS=... for its flags)
	$(GO) run ./bench $(BENCHARGS)

fuzz: ## Each fuzz target for FUZZTIME (10m), one after the other
	grep -rnoE --include='*_test.go' --exclude-dir=testdata '^func Fuzz[A-Za-z0-9_]*' cmd internal | \
	sed -E 's,^(.*)/[^/]*:[0-9]+:func (.*)$$,\1 \2,' | sort -u | \
	while read -r dir target; do \
		echo "fuzz $$dir $$target for $(FUZZTIME)"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "./$$dir" </dev/null || exit 1; \
	done

clean: ## Remove what was built and measured here
	rm -rf prony bench/out coverage.out
	find . -name .git -prune -o -type f \( -name '*.test' -o -name '*.prof' \) -exec rm -f {} +

help: ## List the targets
	awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "%-12s%s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
