{{- define "regent.name" -}}
{{- $chart := include "regent.chart" . -}}
{{- $name := contains $chart .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $chart) -}}
{{ .Values.fullnameOverride | default $name | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "regent.chart" -}}
{{ .Values.nameOverride | default .Chart.Name }}
{{- end }}

{{- define "regent.selector" -}}
app.kubernetes.io/name: {{ include "regent.chart" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "regent.labels" -}}
{{ include "regent.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "regent.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "regent.name" .) }}
{{- end }}

{{- /* Name of the port that serves clients. */}}
{{- define "regent.port" -}}
{{ if .Values.tls.secret }}https{{ else }}http{{ end }}
{{- end }}

{{- /* Image by digest, or else by tag. */}}
{{- define "regent.image" -}}
{{- with .Values.image -}}
{{- $repository := required "image.repository must be the repository of the image, such as registry.example.org/regent" .repository -}}
{{ if .digest }}{{ printf "%s@%s" $repository .digest }}{{ else }}{{ printf "%s:%s" $repository (.tag | default $.Chart.AppVersion) }}{{ end }}
{{- end }}
{{- end }}

{{- /* Host name of the URL under which clients reach the server. */}}
{{- define "regent.publicHost" -}}
{{ (urlParse .Values.hostname).host | splitList ":" | first }}
{{- end }}

{{- /* Path of the URL under which clients reach the server. */}}
{{- define "regent.publicPath" -}}
{{ (urlParse .Values.hostname).path | trimSuffix "/" | default "/" }}
{{- end }}

{{- /* Security context of the pod. OpenShift sets the user and groups itself. */}}
{{- define "regent.podSecurityContext" -}}
{{- $ids := dict "runAsUser" 1000 "runAsGroup" 1000 "fsGroup" 1000 -}}
{{- if .Capabilities.APIVersions.Has "security.openshift.io/v1" }}{{ $ids = dict }}{{ end -}}
{{- $default := merge $ids (dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault")) -}}
{{ .Values.podSecurityContext | default $default | toYaml }}
{{- end }}

{{- /* Peers through which the API server connects, as a list: its addresses, and pods of kube-system. */}}
{{- define "regent.apiServers" -}}
- namespaceSelector:
    matchLabels:
      kubernetes.io/metadata.name: kube-system
{{- range (lookup "discovery.k8s.io/v1" "EndpointSlice" "default" "").items }}
{{- if eq (index .metadata.labels "kubernetes.io/service-name") "kubernetes" }}
{{- range .endpoints }}
{{- range .addresses }}
- ipBlock:
    cidr: {{ . }}/{{ contains ":" . | ternary 128 32 }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Security context of each container. */}}
{{- define "regent.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- /* Annotations of the hook that releases finalizers, with its weight. */}}
{{- define "regent.releaseHook" -}}
helm.sh/hook: post-delete
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{- /* Volume source with the CA certificates of outgoing connections, or nothing. */}}
{{- define "regent.caVolume" -}}
{{- with .Values.trustedCa -}}
{{- if and .secret .configMap }}{{ fail "trustedCa.secret and trustedCa.configMap exclude each other" }}{{ end -}}
{{- if .secret -}}
secret:
  secretName: {{ .secret }}
  defaultMode: 0440
{{- else if .configMap -}}
configMap:
  name: {{ .configMap }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Probe of a health endpoint: live or ready. */}}
{{- define "regent.probe" -}}
httpGet:
  path: /health/{{ . }}
  port: management
{{- end }}

{{- /* Plural names of Regent's resources, as a list. */}}
{{- define "regent.resources" -}}
{{- range $file, $_ := .Files.Glob "files/crds/*.yaml" }}
- {{ ($.Files.Get $file | fromYaml).spec.names.plural }}
{{- end }}
{{- end }}

{{- /* Source of the admission certificate: secret, cert-manager or regent. */}}
{{- define "regent.admissionCertificate" -}}
{{- if .Values.admission.secret }}secret
{{- else if or .Values.admission.issuer (.Capabilities.APIVersions.Has "cert-manager.io/v1") }}cert-manager
{{- else }}regent{{ end }}
{{- end }}

{{- /* Annotations of a hook before installation and upgrade, with its weight. */}}
{{- define "regent.definitionsHook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{- /* Whether the admission webhook is enabled: yes, or nothing. */}}
{{- define "regent.admission" -}}
{{- if .Values.admission.enabled -}}
{{- if not .Values.operator.enabled }}{{ fail "admission.enabled requires operator.enabled" }}{{ end -}}
yes
{{- end }}
{{- end }}

{{- /* Rules with which the operator reads and applies resources, in a namespace or in all. */}}
{{- define "regent.operatorRules" -}}
{{- $resources := include "regent.resources" . | fromYamlArray -}}
# Patch: finalizers.
- apiGroups: [regent.dev]
  resources: {{- toYaml $resources | nindent 4 }}
  verbs: [list, watch, patch]
- apiGroups: [regent.dev]
  resources:
    {{- range $resources }}
    - {{ . }}/status
    {{- end }}
  verbs: [patch]
- apiGroups: [k8s.keycloak.org]
  resources: [keycloakrealmimports, keycloakoidcclients, keycloaksamlclients]
  verbs: [list, watch]
- apiGroups: [k8s.keycloak.org]
  resources: [keycloakrealmimports/status]
  verbs: [patch]
# Artifacts of Flux, for sourceRef of RealmSources.
- apiGroups: [source.toolkit.fluxcd.io]
  resources: [gitrepositories, ocirepositories]
  verbs: [list, watch]
{{- with .Values.operator.secrets.names }}
# Secrets that resources may name.
- apiGroups: ['']
  resources: [secrets]
  resourceNames: {{- toYaml . | nindent 4 }}
  verbs: [list, watch]
{{- else }}
# Only Secrets with the label regent.dev/secret are read. A role cannot select labels.
- apiGroups: ['']
  resources: [secrets]
  verbs: [list, watch]
{{- end }}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
{{- end }}

{{- /* Rules with which the operator writes Secrets. Their creation cannot be limited by name. */}}
{{- define "regent.secretWriterRules" -}}
- apiGroups: ['']
  resources: [secrets]
  verbs: [create]
- apiGroups: ['']
  resources: [secrets]
  {{- with .Values.operator.secrets.names }}
  resourceNames: {{- toYaml . | nindent 4 }}
  {{- end }}
  verbs: [patch, delete]
{{- end }}

{{- /* Binding of a role to the service account. Values: context, kind and name of the role, and the namespace of a Role. */}}
{{- define "regent.binding" -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}Binding
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels: {{- include "regent.labels" .context | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "regent.serviceAccount" .context }}
    namespace: {{ .context.Release.Namespace }}
{{- end }}

{{- /* Job of a hook. Values: context, name of the job and its service account, annotations of the hook, and command. */}}
{{- define "regent.job" -}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .name }}
  namespace: {{ .context.Release.Namespace }}
  labels: {{- include "regent.labels" .context | nindent 4 }}
  annotations: {{- .hook | nindent 4 }}
spec:
  backoffLimit: 3
  template:
    metadata:
      # Not those of the server, whose Service would send requests to the job.
      labels:
        app.kubernetes.io/name: {{ .name }}
        {{- with .context.Values.commonLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      restartPolicy: Never
      serviceAccountName: {{ .name }}
      {{- with .context.Values.image.pullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext: {{- include "regent.podSecurityContext" .context | nindent 8 }}
      containers:
        - name: regent
          image: {{ include "regent.image" .context | quote }}
          imagePullPolicy: {{ .context.Values.image.pullPolicy }}
          command: {{- toYaml .command | nindent 12 }}
          securityContext: {{- include "regent.securityContext" .context | nindent 12 }}
{{- end }}
