# What `sam build` runs for each function (`BuildMethod: makefile` in template.yaml).
#
#   sam build                      for AWS, arm64: small binaries that start fast
#   ARCH=x86_64 sam build          for AWS, x86_64 (deploy with Arch=x86_64, too)
#   PREBUILT=target/debug sam build  takes binaries that cargo has built; localstack/up does this,
#                                    so that the stack and the tests share one build
#
# The source is built in place (samconfig.toml), so cargo's own cache makes repetitions quick.

ARCH ?= arm64
FUNCTIONS := $(notdir $(wildcard functions/*))
LAMBDA_FLAG := $(if $(filter x86_64,$(ARCH)),--x86-64,--arm64)

# OrderIntents -> order-intents
kebab = $(shell printf %s '$(1)' | sed -E 's/([a-z])([A-Z])/\1-\2/g' | tr A-Z a-z)

build-%Function:
ifdef PREBUILT
	strip -o "$(ARTIFACTS_DIR)/bootstrap" "$(PREBUILT)/$(call kebab,$*)"
else
	cargo lambda build --locked --profile lambda $(LAMBDA_FLAG) $(addprefix --package ,$(FUNCTIONS))
	cp "target/lambda/$(call kebab,$*)/bootstrap" "$(ARTIFACTS_DIR)/bootstrap"
endif
