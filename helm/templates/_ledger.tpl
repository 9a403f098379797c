{{/* Where the ledger is: in a file on a claim, or in the store of the cluster. */}}

{{/* Not empty where it is in the cluster. */}}
{{- define "pipewright.inCluster" -}}
{{- if eq (.Values.ledger.type | default "sqlite") "kubernetes" -}}yes{{- end -}}
{{- end }}

{{/* As the program is told it. Its Secret, its Lease and the label of its records carry the name, in the namespace of the pod. */}}
{{- define "pipewright.ledger" -}}
{{- if include "pipewright.inCluster" . -}}
kubernetes:{{ include "pipewright.fullname" . }}
{{- else -}}
sqlite:/var/lib/pipewright/ledger.db
{{- end -}}
{{- end }}

{{- define "pipewright.claim" -}}
{{- .Values.ledger.existingClaim | default (printf "ledger-%s-0" (include "pipewright.fullname" .)) -}}
{{- end }}

{{/* How many pods there are. */}}
{{- define "pipewright.replicas" -}}
{{- if kindIs "invalid" .Values.replicaCount -}}
{{- include "pipewright.inCluster" . | empty | ternary 1 2 -}}
{{- else -}}
{{- .Values.replicaCount -}}
{{- end -}}
{{- end }}

{{- define "pipewright.ledgerMounts" -}}
{{- if include "pipewright.inCluster" . -}}
- name: kubernetes-api
  mountPath: /var/run/secrets/kubernetes.io/serviceaccount
  readOnly: true
{{- /* Nothing is kept there: it is for the files of `pipewright ledger export` and `import`. */}}
- name: scratch
  mountPath: /var/lib/pipewright
{{- else -}}
- name: ledger
  mountPath: /var/lib/pipewright
{{- end -}}
{{- end }}

{{- define "pipewright.ledgerVolumes" -}}
{{- if include "pipewright.inCluster" . }}
{{- /* What Kubernetes would mount into every container of the pod; only one asks the API. */}}
- name: kubernetes-api
  projected:
    defaultMode: 0440
    sources:
      - serviceAccountToken: { path: token, expirationSeconds: 3600 }
      - configMap: { name: kube-root-ca.crt, items: [{ key: ca.crt, path: ca.crt }] }
      - downwardAPI: { items: [{ path: namespace, fieldRef: { apiVersion: v1, fieldPath: metadata.namespace } }] }
- name: scratch
  emptyDir: {}
{{- else if .Values.ledger.existingClaim }}
- name: ledger
  persistentVolumeClaim:
    claimName: {{ .Values.ledger.existingClaim | toYaml }}
{{- end }}
{{- end }}

{{/* What of the values does not go with where the ledger is. */}}
{{- define "pipewright.ledgerFaults" -}}
{{- $faults := list -}}
{{- $replicas := include "pipewright.replicas" . | int -}}
{{- if not (include "pipewright.inCluster" .) -}}
{{- if gt $replicas 1 -}}
{{- $faults = append $faults (printf "replicaCount is %d, and the ledger is a file, which one pod can have: the others would wait for it for good. Set ledger.type=kubernetes for several pods; or leave replicaCount out." $replicas) -}}
{{- end -}}
{{- else -}}
{{- $name := include "pipewright.fullname" . -}}
{{- if .Values.platform.sandbox -}}
{{- $faults = append $faults "platform.sandbox is on, and ledger.type is kubernetes: each pod would have a platform of its own, with a ledger for all of them. Leave out ledger.type, or the sandbox." -}}
{{- end -}}
{{- if gt (len (.Values.fullnameOverride | default "")) 50 -}}
{{- $faults = append $faults (printf "fullnameOverride has %d characters, and the ledger in the cluster is called like it, which may have 50: the rest would be cut off. Give a shorter one." (len .Values.fullnameOverride)) -}}
{{- end -}}
{{- if and (not .Values.serviceAccount.create) (not .Values.serviceAccount.name) -}}
{{- $faults = append $faults "serviceAccount.create is off, and serviceAccount.name is empty: every pod of the namespace that names no service account could change the ledger. Name one of its own in serviceAccount.name." -}}
{{- end -}}
{{- $named := dict "platform.alertsToken" .Values.platform.alertsToken.secretName "adminToken" .Values.adminToken.secretName "source.git.token" .Values.source.git.token.secretName "source.git.ssh" .Values.source.git.ssh.secretName "source.git.ca" .Values.source.git.ca.secretName "tls.ca" .Values.tls.ca.secretName "tls.clientCertificate" .Values.tls.clientCertificate.secretName "proxy" .Values.proxy.secretName -}}
{{- range $list := list "credentials" "secrets" -}}
{{- range get $.Values $list | default list -}}
{{- if eq (.secretName | default .name) $name -}}{{- $_ := set $named $list $name -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- range $at, $secret := $named -}}
{{- if eq ($secret | default "") $name -}}
{{- $faults = append $faults (printf "%s names the Secret %q, which is that of the ledger: it is called like the release. Give yours another name; or the release, with fullnameOverride." $at $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $faults -}}
{{- end }}
