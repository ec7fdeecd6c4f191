{{- define "regent.name" -}}
{{- $name := contains .Chart.Name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) -}}
{{ $name | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "regent.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "regent.labels" -}}
{{ include "regent.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "regent.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "regent.name" .) }}
{{- end }}

{{- /* The port that requests of others are answered on. */}}
{{- define "regent.port" -}}
{{ if .Values.tls.secret }}https{{ else }}http{{ end }}
{{- end }}

{{- /* Asks for the health of that name. */}}
{{- define "regent.probe" -}}
{{- $root := first . -}}
httpGet:
  path: /health/{{ last . }}
  port: {{ include "regent.port" $root }}
  scheme: {{ include "regent.port" $root | upper }}
{{- end }}

{{- /* What Regent's resources are called in addresses: as a list. */}}
{{- define "regent.resources" -}}
{{- range $file, $_ := .Files.Glob "files/crds/*.yaml" }}
- {{ ($.Files.Get $file | fromYaml).spec.names.plural }}
{{- end }}
{{- end }}

{{- /* Whether the API server asks before it takes a resource: yes, or nothing. */}}
{{- define "regent.admission" -}}
{{- if .Values.admission.enabled -}}
{{- if not .Values.operator.enabled }}{{ fail "admission.enabled goes with operator.enabled" }}{{ end -}}
yes
{{- end }}
{{- end }}
