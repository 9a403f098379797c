{{/* Where things are in the containers. */}}
{{- define "pipewright.manifestsDir" -}}
{{- $root := .Values.source.git.repository | empty | ternary "/manifests" "/git/current" -}}
{{- $root -}}{{- with .Values.source.path -}}/{{ trimSuffix "/" . }}{{- end -}}
{{- end }}

{{/* Settings travel as variables, so that `kubectl exec … pipewright status` has them too. */}}
{{- define "pipewright.env" -}}
{{- $env := dict "PIPEWRIGHT_LISTEN" "0.0.0.0:8080" "PIPEWRIGHT_METRICS_LISTEN" "0.0.0.0:9090" -}}
{{- $_ := set $env "PIPEWRIGHT_MANIFESTS" (include "pipewright.manifestsDir" .) -}}
{{- $_ = set $env "PIPEWRIGHT_ALLOWED_HOSTS" (include "pipewright.allowedHosts" .) -}}
{{- $_ = set $env "PIPEWRIGHT_LEDGER_INIT" .Values.ledger.init -}}
{{- $_ = set $env "PIPEWRIGHT_REQUEST_TIMEOUT" .Values.shutdown.requestTimeout -}}
{{- $_ = set $env "PIPEWRIGHT_SHUTDOWN_GRACE" .Values.shutdown.grace -}}
{{- if .Values.platform.sandbox -}}
{{- $_ = set $env "PIPEWRIGHT_SANDBOX" "true" -}}
{{- else -}}
{{- $_ = set $env "PIPEWRIGHT_BASE_URL" .Values.platform.baseUrl -}}
{{- $_ = set $env "PIPEWRIGHT_LEDGER" (include "pipewright.ledger" .) -}}
{{- if include "pipewright.inCluster" . -}}
{{- $_ = set $env "PIPEWRIGHT_LEASE_DURATION" (.Values.ledger.leaseDuration | default "15s") -}}
{{- end -}}
{{- $_ = set $env "PIPEWRIGHT_CREDENTIALS_DIR" "/etc/pipewright/credentials" -}}
{{- $_ = set $env "PIPEWRIGHT_SECRETS_DIR" "/etc/pipewright/secrets" -}}
{{- end -}}
{{- with .Values.platform.alertsBaseUrl -}}{{- $_ = set $env "PIPEWRIGHT_ALERTS_BASE_URL" . -}}{{- end -}}
{{- if .Values.platform.allowInsecureHttp -}}{{- $_ = set $env "PIPEWRIGHT_ALLOW_INSECURE_HTTP" "true" -}}{{- end -}}
{{- if .Values.adminToken.secretName -}}
{{- $_ = set $env "PIPEWRIGHT_ADMIN_TOKEN_FILE" "/etc/pipewright/admin-token/token" -}}
{{- end -}}
{{- range $name, $value := .Values.settings -}}
{{- $_ = set $env (printf "PIPEWRIGHT_%s" ($name | upper | replace "-" "_")) (toString $value) -}}
{{- end -}}
{{- range $name, $value := $env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- include "pipewright.outboundEnv" . }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The Service is asked by any of its names, whole or short. */}}
{{- define "pipewright.allowedHosts" -}}
{{- $service := include "pipewright.fullname" . -}}
{{- $names := list $service -}}
{{- range list "" ".svc" (printf ".svc.%s" .Values.clusterDomain) -}}
{{- $names = append $names (printf "%s.%s%s" $service $.Release.Namespace .) -}}
{{- end -}}
{{- range splitList "," (include "pipewright.publicHosts" .) -}}
{{- if . -}}{{- $names = append $names (trimPrefix "*" .) -}}{{- end -}}
{{- end -}}
{{- join "," (concat $names (.Values.allowedHosts | default list) | uniq) -}}
{{- end }}

{{- define "pipewright.mounts" -}}
{{- include "pipewright.ledgerMounts" . }}
- name: {{ .Values.source.git.repository | empty | ternary "manifests" "git" }}
  mountPath: {{ .Values.source.git.repository | empty | ternary "/manifests" "/git" }}
  readOnly: true
{{- range .Values.credentials }}
- name: credential-{{ .name | replace "." "-" }}
  mountPath: /etc/pipewright/credentials/{{ .name }}
  readOnly: true
{{- end }}
{{- if .Values.platform.alertsToken.secretName }}
- name: alerts-token
  mountPath: /etc/pipewright/credentials/alerts
  readOnly: true
{{- end }}
{{- range .Values.secrets }}
- name: secret-{{ .name | replace "." "-" }}
  mountPath: /etc/pipewright/secrets/{{ .name }}
  readOnly: true
{{- end }}
{{- if .Values.adminToken.secretName }}
- name: admin-token
  mountPath: /etc/pipewright/admin-token
  readOnly: true
{{- end }}
{{- include "pipewright.outboundMounts" . }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The volume of the manifests, without the kinds that are null: so does one file of values take away what another one gives. */}}
{{- define "pipewright.ofVolume" -}}
{{- $kinds := dict -}}
{{- range $kind, $is := .Values.source.volume -}}
{{- if not (kindIs "invalid" $is) -}}{{- $_ := set $kinds $kind $is -}}{{- end -}}
{{- end -}}
{{- with $kinds -}}{{- toYaml . -}}{{- end -}}
{{- end }}

{{- define "pipewright.volumes" -}}
{{- $git := .Values.source.git -}}
{{- include "pipewright.ledgerVolumes" . }}
{{- if $git.repository }}
- name: git
  emptyDir: {{ with $git.sizeLimit }}{ sizeLimit: {{ . | toYaml }} }{{ else }}{}{{ end }}
- name: git-tmp
  emptyDir: {}
{{- if $git.ca.secretName }}
- name: git-ca
  secret:
    secretName: {{ $git.ca.secretName | toYaml }}
    defaultMode: 0440
{{- else if $git.ca.configMap }}
- name: git-ca
  configMap:
    name: {{ $git.ca.configMap | toYaml }}
{{- end }}
{{- with ($git.token.secretName | default $git.ssh.secretName) }}
- name: git-secret
  secret:
    secretName: {{ . | toYaml }}
    defaultMode: 0440
{{- end }}
{{- else if .Values.source.configMap }}
- name: manifests
  configMap:
    name: {{ .Values.source.configMap | toYaml }}
{{- else if .Values.source.volume }}
- name: manifests
  {{- with include "pipewright.ofVolume" . }}{{ . | nindent 2 }}{{ end }}
{{- end }}
{{- /* Optional: a Secret that is not there yet must not keep the others from working. Pipewright names it. */}}
{{- range .Values.credentials }}
- name: credential-{{ .name | replace "." "-" }}
  secret:
    secretName: {{ .secretName | default .name | toYaml }}
    optional: true
    defaultMode: 0440
{{- end }}
{{- range .Values.secrets }}
- name: secret-{{ .name | replace "." "-" }}
  secret:
    secretName: {{ .secretName | default .name | toYaml }}
    optional: true
    defaultMode: 0440
{{- end }}
{{- with .Values.platform.alertsToken }}
{{- if .secretName }}
- name: alerts-token
  secret:
    secretName: {{ .secretName | toYaml }}
    optional: true
    defaultMode: 0440
    items: [{ key: {{ .key | quote }}, path: token }]
{{- end }}
{{- end }}
{{- with .Values.adminToken }}
{{- if .secretName }}
- name: admin-token
  secret:
    secretName: {{ .secretName | toYaml }}
    optional: true
    defaultMode: 0440
    items: [{ key: {{ .key | quote }}, path: token }]
{{- end }}
{{- end }}
{{- include "pipewright.outboundVolumes" . }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* What the daemon's container runs, and how it is asked; in diagnostic mode it waits, and whoever comes runs what he likes. */}}
{{- define "pipewright.process" -}}
{{- if .Values.diagnosticMode -}}
command:
  - node
  - -e
  - |
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0))
    setInterval(() => {}, 2 ** 30)
    console.log('Diagnostic mode: no daemon runs here.')
{{- else -}}
args:
  - run
{{- $probes := dict "startupProbe" "/healthz" "livenessProbe" "/healthz" "readinessProbe" "/readyz" }}
{{- range $probe, $path := $probes }}
{{- with get $.Values $probe }}
{{ $probe }}:
  httpGet: { path: {{ $path }}, port: metrics }
  {{- with include "pipewright.withoutNulls" . | fromYaml }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}
{{- with .Values.lifecycle }}
lifecycle:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}
