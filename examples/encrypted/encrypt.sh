#!/bin/sh
# Creates a key, encrypts the secrets in plain.yaml into realm.yaml, and applies the realm. Needs sops and age-keygen.
# Commit realm.yaml, and neither plain.yaml nor key.txt. Arguments are those of regent apply, such as --server URL.
set -eu
cd "$(dirname "$0")"
[ -f key.txt ] || age-keygen -o key.txt
# The keys of all secret fields in realm files.
secrets='(^credentials|[sS]ecret(\.key|\.rotated)?|[pP]assword|bindCredential|[pP]rivate\.?[kK]ey|api\.key)$'
sops encrypt --age "$(age-keygen -y key.txt)" --encrypted-regex "$secrets" plain.yaml > realm.yaml
regent "${COMMAND:-apply}" realm.yaml --age-key-file key.txt "$@"
