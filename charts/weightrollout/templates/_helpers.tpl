{{/* The one name of everything of the operator: see values.yaml, why it is not the release's. */}}
{{- define "weightrollout.name" -}}
weightrollout-operator
{{- end }}

{{/* Of objects that belong to no namespace, so that releases in two namespaces stay apart. */}}
{{- define "weightrollout.clusterName" -}}
weightrollout-operator:{{ .Release.Namespace }}
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
