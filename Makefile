# What one types. Everything is built under build/.
.PHONY: run paddle test tidy test-long test-mutants nightly e2e e2e-paddle bench sandbox build image dist chart packages paddle-packages test-packages nightly-packages bench-packages clean

JOBS ?= $(shell nproc)
GANGWAY = build/release/cmd/gangway/gangway

# The seed job, from kubectl-like apply to Completed, in an embedded cluster.
run: build
	$(GANGWAY) sandbox --nodes 6 --apply examples/ctr-volcano.yaml --finish trainer=5s \
	  --until job/ctr-volcano=Completed --timeout 60s

# The same with real PaddlePaddle: its pods are processes of this machine, and a small model is trained.
paddle: paddle-packages build
	scripts/paddle $(GANGWAY)

# An embedded cluster that stays up for kubectl.
sandbox: build
	$(GANGWAY) sandbox --nodes 6

build: packages
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target gangway -j $(JOBS)

# Tests that passed before, and that read nothing that has changed since, are not run again; FRESH=1 runs all.
test: test-packages
	scripts/test

test-long: test-packages
	scripts/test --long

# Breaks the product in small ways, one at a time, and prints what no test noticed. SAMPLE=500 SEED=7 ROOM=plugin/gang
test-mutants: packages
	scripts/test-mutants --sample $(or $(SAMPLE),100) $(if $(SEED),--seed $(SEED)) $(if $(ROOM),--room $(ROOM))

# Benches compiled, the image of aarch64 made and run, long tests, mutants of another drawing each day, half an hour of each fuzz target: for a machine that has the night for it.
nightly: nightly-packages
	scripts/nightly

# Clang-tidy over the sources of production that have changed since they passed. SINCE=main: of those only what differs from that revision.
tidy: test-packages
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev --target gangway_proto -j $(JOBS)
	scripts/tidy $(if $(SINCE),--since $(SINCE))

# Only the tests against a real control plane, and all of those. `make test` runs the short ones. KUBERNETES=v1.26.13: of that release in place of the pinned one
e2e: test-packages
	scripts/test --e2e $(KUBERNETES)

# Everything that real PaddlePaddle trains, 26 minutes on two processors that others use, too. `make test` runs one job of it.
e2e-paddle: test-packages
	scripts/test --paddle

bench: bench-packages
	scripts/bench

# What people install (docs/releasing.md), all the same bytes each time: an OCI image without a daemon in build/image, an archive and the chart in build/artifacts. ARCH=amd64,arm64
image: packages
	scripts/image $(if $(ARCH),--arch $(ARCH))

dist: packages
	scripts/dist $(if $(ARCH),--arch $(ARCH))

chart:
	scripts/chart

packages:
	@[ -n "$$GW_SKIP_PACKAGES" ] || scripts/install-packages

paddle-packages:
	@[ -n "$$GW_SKIP_PACKAGES" ] || scripts/install-packages --paddle

test-packages:
	@[ -n "$$GW_SKIP_PACKAGES" ] || scripts/install-packages --tests

nightly-packages:
	@[ -n "$$GW_SKIP_PACKAGES" ] || scripts/install-packages --nightly

bench-packages:
	@[ -n "$$GW_SKIP_PACKAGES" ] || scripts/install-packages --benches

clean:
	rm -rf build
