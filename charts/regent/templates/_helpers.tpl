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

{{- /* Name of the port that serves clients. */}}
{{- define "regent.port" -}}
{{ if .Values.tls.secret }}https{{ else }}http{{ end }}
{{- end }}

{{- /* Probe of a health endpoint: live or ready. */}}
{{- define "regent.probe" -}}
{{- $root := first . -}}
httpGet:
  path: /health/{{ last . }}
  port: {{ include "regent.port" $root }}
  scheme: {{ include "regent.port" $root | upper }}
{{- end }}

{{- /* Plural names of Regent's resources, as a list. */}}
{{- define "regent.resources" -}}
{{- range $file, $_ := .Files.Glob "files/crds/*.yaml" }}
- {{ ($.Files.Get $file | fromYaml).spec.names.plural }}
{{- end }}
{{- end }}

{{- /* Whether the admission webhook is enabled: yes, or nothing. */}}
{{- define "regent.admission" -}}
{{- if .Values.admission.enabled -}}
{{- if not .Values.operator.enabled }}{{ fail "admission.enabled requires operator.enabled" }}{{ end -}}
yes
{{- end }}
{{- end }}
