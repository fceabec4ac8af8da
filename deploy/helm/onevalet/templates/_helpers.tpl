{{- define "onevalet.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "onevalet.labels" -}}
{{ include "onevalet.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "onevalet.selector" -}}
app.kubernetes.io/name: onevalet
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "onevalet.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* What every pod of ours has in common. */}}
{{- define "onevalet.pod" -}}
serviceAccountName: {{ include "onevalet.name" . }}
# Nothing here asks Kubernetes anything.
automountServiceAccountToken: false
# A Service would set variables of its own, such as ONEVALET_METRICS_PORT.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "onevalet.confined" -}}
image: {{ include "onevalet.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{/* Pods of one part on different machines, as far as there are some. Takes the root and the part. */}}
{{- define "onevalet.placed" -}}
{{- $part := index .root.Values .part -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "onevalet.selector" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .part }}
{{- with $part.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $part.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The settings of `web` and workers. */}}
{{- define "onevalet.environment" -}}
envFrom:
  - configMapRef: {name: {{ include "onevalet.name" . }}}
  - secretRef: {name: {{ .Values.secret }}}
env:
  - {name: HOST, value: "0.0.0.0"}
  - {name: PORT, value: "8080"}
  - {name: ONEVALET_HOME, value: /home/onevalet/.onevalet}
  - {name: ONEVALET_HEALTH_FILE, value: /tmp/worker.health}
{{- if .Values.metrics.enabled }}
  - {name: ONEVALET_METRICS_PORT, value: {{ .Values.metrics.port | quote }}}
{{- end }}
{{- if .Values.valkey.enabled }}
  - {name: REDIS_URL, value: "redis://{{ include "onevalet.name" . }}-valkey:6379/0"}
{{- end }}
{{ include "onevalet.database" (dict "root" . "login" "serving") }}
{{- end -}}

{{/* DATABASE_URL of a login: `serving` or `owner`. Only `migrate` is given the owner's. */}}
{{- define "onevalet.database" -}}
{{- $root := .root -}}
{{- $postgres := printf "%s-postgres" (include "onevalet.name" $root) -}}
{{- if $root.Values.postgres.cluster }}
{{- $owner := eq .login "owner" }}
{{- $password := $owner | ternary "POSTGRES_PASSWORD" "POSTGRES_SERVING_PASSWORD" }}
  - name: {{ $password }}
    valueFrom:
      secretKeyRef:
        name: {{ $owner | ternary (printf "%s-app" $postgres) $root.Values.postgres.servingSecret }}
        key: password
  - name: DATABASE_URL
    value: >-
      postgresql://{{ $owner | ternary "onevalet" "onevalet_serving" }}:$({{ $password }})@{{ $postgres }}-rw:5432/onevalet?sslmode=verify-full&sslrootcert=/etc/postgres-ca/ca.crt
{{- else }}
  - name: DATABASE_URL
    valueFrom:
      secretKeyRef: {name: {{ $root.Values.postgres.secret }}, key: {{ .login }}}
{{- end }}
{{- end -}}

{{- define "onevalet.mounts" -}}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
{{- include "onevalet.mount-of-ca" . }}
{{- if .Values.files.claim }}
  - {name: files, mountPath: /home/onevalet/.onevalet/files}
{{- end }}
{{- end -}}

{{- define "onevalet.mount-of-ca" -}}
{{- if .Values.postgres.cluster }}
  - {name: postgres-ca, mountPath: /etc/postgres-ca, readOnly: true}
{{- end }}
{{- end -}}

{{- define "onevalet.volumes" -}}
volumes:
  - name: tmp
    emptyDir: {medium: Memory, sizeLimit: 64Mi}
{{- include "onevalet.volume-of-ca" . }}
{{- if .Values.files.claim }}
  - name: files
    persistentVolumeClaim: {claimName: {{ .Values.files.claim }}}
{{- end }}
{{- end -}}

{{- define "onevalet.volume-of-ca" -}}
{{- if .Values.postgres.cluster }}
  - name: postgres-ca
    secret:
      secretName: {{ include "onevalet.name" . }}-postgres-ca
      # Not the key that signs.
      items: [{key: ca.crt, path: ca.crt}]
{{- end }}
{{- end -}}
