#!/bin/sh
# Applies the template for each customer. Arguments are those of regent apply, such as --server URL. Another command: COMMAND=plan ./apply.sh
set -eu
folder=$(dirname "$0")
while IFS=, read -r id name; do
  CUSTOMER_ID="$id" CUSTOMER_NAME="$name" regent "${COMMAND:-apply}" "$folder/customer.yaml" --name "customers/$id" \
    --variables 'env:CUSTOMER_*' "$@" < /dev/null
done < "$folder/customers.csv"
