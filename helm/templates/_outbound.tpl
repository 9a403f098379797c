{{/* The way out: a proxy, authorities that are believed as well, and a client certificate. */}}

{{/* Nothing of the pod and of the cluster goes through the proxy. */}}
{{- define "pipewright.noProxy" -}}
{{- $own := list "localhost" "127.0.0.1" "::1" "kubernetes.default" ".svc" (printf ".%s" .Values.clusterDomain) -}}
{{- $given := regexSplit "[,\\s]+" (.Values.proxy.noProxy | default "") -1 -}}
{{- join "," (concat $own $given | compact | uniq) -}}
{{- end }}

{{/* As variables that most programs obey; of a Secret where there is a password in them. */}}
{{- define "pipewright.proxyEnv" -}}
{{- $proxy := .Values.proxy -}}
{{- $names := dict "HTTPS_PROXY" $proxy.httpsProxy "HTTP_PROXY" $proxy.httpProxy -}}
{{- if or $proxy.secretName $proxy.httpsProxy $proxy.httpProxy }}
{{- range $name, $value := $names }}
{{- if $proxy.secretName }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $proxy.secretName | toYaml }}
      key: {{ $name }}
      optional: true
{{- else if $value }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
- name: NO_PROXY
  value: {{ include "pipewright.noProxy" . | quote }}
{{- end }}
{{- end }}

{{- define "pipewright.outboundEnv" -}}
{{- include "pipewright.proxyEnv" . }}
{{- $ca := .Values.tls.ca -}}
{{- if or $ca.configMap $ca.secretName }}
- name: PIPEWRIGHT_CA_FILE
  value: /etc/pipewright/tls/ca/ca.crt
{{- end }}
{{- if .Values.tls.clientCertificate.secretName }}
- name: PIPEWRIGHT_CLIENT_CERT_FILE
  value: /etc/pipewright/tls/client/tls.crt
- name: PIPEWRIGHT_CLIENT_KEY_FILE
  value: /etc/pipewright/tls/client/tls.key
{{- end }}
{{- end }}

{{- define "pipewright.outboundMounts" -}}
{{- $ca := .Values.tls.ca -}}
{{- if or $ca.configMap $ca.secretName }}
- name: tls-ca
  mountPath: /etc/pipewright/tls/ca
  readOnly: true
{{- end }}
{{- if .Values.tls.clientCertificate.secretName }}
- name: tls-client
  mountPath: /etc/pipewright/tls/client
  readOnly: true
{{- end }}
{{- end }}

{{/* Optional: Pipewright names what is not there. */}}
{{- define "pipewright.outboundVolumes" -}}
{{- $ca := .Values.tls.ca -}}
{{- if $ca.secretName }}
- name: tls-ca
  secret:
    secretName: {{ $ca.secretName | toYaml }}
    optional: true
    defaultMode: 0440
    items: [{ key: {{ $ca.key | quote }}, path: ca.crt }]
{{- else if $ca.configMap }}
- name: tls-ca
  configMap:
    name: {{ $ca.configMap | toYaml }}
    optional: true
    items: [{ key: {{ $ca.key | quote }}, path: ca.crt }]
{{- end }}
{{- with .Values.tls.clientCertificate }}
{{- if .secretName }}
- name: tls-client
  secret:
    secretName: {{ .secretName | toYaml }}
    optional: true
    defaultMode: 0440
    items: [{ key: {{ .certKey | quote }}, path: tls.crt }, { key: {{ .keyKey | quote }}, path: tls.key }]
{{- end }}
{{- end }}
{{- end }}
