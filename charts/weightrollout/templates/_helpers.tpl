{{/* The one name of everything of the operator: see values.yaml, why it is not the release's. */}}
{{- define "weightrollout.name" -}}
weightrollout-operator
{{- end }}

{{/* "true" where the operator works in all namespaces. Values of a release before `scope` have none. */}}
{{- define "weightrollout.everywhere" -}}
{{- if eq (.Values.scope | default "namespace") "cluster" }}true{{ end }}
{{- end }}

{{/* How agents know the operator. Values of a release before `agents` have none. */}}
{{- define "weightrollout.agentIdentity" -}}
{{ (.Values.agents | default dict).identity | default "token" }}
{{- end }}

{{/* The discovery as a JSON object; {} where it is off. Values of a release before it have none. */}}
{{- define "weightrollout.discovery" -}}
{{- $found := .Values.discovery | default dict }}
{{- if not $found.enabled -}}
{}
{{- else -}}
{{- if not ($found.token | default dict).secretName }}
{{- fail "discovery.enabled needs discovery.token.secretName: a Secret with the token that trainers bring" }}
{{- end }}
{{- if not ($found.tls | default dict).secretName }}
{{- fail "discovery.enabled needs discovery.tls.secretName: without TLS the token would be shown to everybody on the way" }}
{{- end }}
{{- $port := $found.port | default 9613 }}
{{- if eq (int $port) (int .Values.port) }}
{{- fail "discovery.port and port: two ports of one pod cannot be the same" }}
{{- end -}}
{{- dict "port" (int $port) "token" $found.token.secretName "key" ($found.token.key | default "token") "tls" $found.tls.secretName "from" ($found.from | default list) "backend" ($found.transferBackend | default false) | toJson }}
{{- end }}
{{- end }}

{{/*
Of objects that belong to no namespace. Releases in two namespaces stay apart; of those that work everywhere
Helm refuses the second, whose objects have the same name.
*/}}
{{- define "weightrollout.clusterName" -}}
{{- if include "weightrollout.everywhere" . -}}
weightrollout-operator
{{- else -}}
weightrollout-operator:{{ .Release.Namespace }}
{{- end }}
{{- end }}

{{/* Two operators over one namespace would take the lead from each other for ever. Without a cluster, nothing is found. */}}
{{- define "weightrollout.alone" -}}
{{- if include "weightrollout.everywhere" . }}
{{- if not .Values.rbac.clusterRole }}
{{- fail "scope: cluster needs rbac.clusterRole: true: its rights are in no single namespace" }}
{{- end }}
{{- range (lookup "apps/v1" "Deployment" "" "").items }}
{{- if and (eq .metadata.name (include "weightrollout.name" $)) (ne .metadata.namespace $.Release.Namespace) }}
{{- fail (printf "scope: cluster: an operator is installed in the namespace %s already: uninstall it first, pods serve on meanwhile" .metadata.namespace) }}
{{- end }}
{{- end }}
{{- else if .Values.rbac.clusterRole }}
{{- with lookup "rbac.authorization.k8s.io/v1" "ClusterRole" "" "weightrollout-operator" }}
{{- $owner := index (.metadata.annotations | default dict) "meta.helm.sh/release-namespace" }}
{{- if ne ($owner | default "") $.Release.Namespace }}
{{- fail (printf "scope: namespace: the operator in the namespace %s works in all namespaces, and so in this one" ($owner | default "of the ClusterRole weightrollout-operator")) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Which pods are the operator's. A Deployment's selector can never change. */}}
{{- define "weightrollout.selector" -}}
app.kubernetes.io/name: weightrollout
app.kubernetes.io/component: operator
{{- end }}

{{- define "weightrollout.labels" -}}
app.kubernetes.io/name: weightrollout
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- end }}

{{- define "weightrollout.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* Rules of RBAC from a list of files/rights.yaml, without its reasons. */}}
{{- define "weightrollout.rules" -}}
{{- range . }}
- apiGroups: {{ toJson .apiGroups }}
  resources: {{ toJson .resources }}
  {{- with .resourceNames }}
  resourceNames: {{ toJson . }}
  {{- end }}
  verbs: {{ keys .verbs | sortAlpha | toJson }}
{{- end }}
{{- end }}
