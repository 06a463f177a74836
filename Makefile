# The front door. Each target is one script in tools/, which says what it does;
# before it, tools/bootstrap sees to the packages that target needs.

PREFIX ?= /usr/local
DESTDIR ?=
ARGS ?=

.PHONY: help bootstrap run test check coverage valgrind bench bench-peers \
    install uninstall clean
.DEFAULT_GOAL := help

help:
	@tools/help

bootstrap:
	@tools/bootstrap build test check coverage valgrind bench

run:
	@tools/bootstrap build
	@tools/run $(ARGS)

test:
	@tools/bootstrap build test interop browser || { echo '0 passed, 1 failed'; exit 1; }
	@tools/test $(ARGS)

check:
	@tools/bootstrap build check
	@tools/check $(ARGS)

coverage:
	@tools/bootstrap build coverage
	@tools/coverage $(ARGS)

valgrind:
	@tools/bootstrap build valgrind
	@tools/valgrind $(ARGS)

bench:
	@tools/bootstrap build bench
	@tools/bench $(ARGS)

bench-peers:
	@tools/bootstrap build bench interop peers
	@tools/bench --peers $(ARGS)

install:
	@tools/bootstrap build
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' tools/install

uninstall:
	@tools/uninstall

clean:
	rm -rf build
