{{/* Not empty if the ledger is in the cluster. */}}
{{- define "pipewright.inCluster" -}}
{{- if eq (.Values.ledger.type | default "sqlite") "kubernetes" -}}yes{{- end -}}
{{- end }}

{{- define "pipewright.claim" -}}
{{- .Values.ledger.existingClaim | default (printf "ledger-%s-0" (include "pipewright.fullname" .)) -}}
{{- end }}

{{- define "pipewright.replicas" -}}
{{- $default := include "pipewright.inCluster" . | empty | ternary 1 2 -}}
{{- kindIs "invalid" .Values.replicaCount | ternary $default .Values.replicaCount -}}
{{- end }}

{{- define "pipewright.ledgerMounts" -}}
{{- if include "pipewright.inCluster" . -}}
- name: kubernetes-api
  mountPath: /var/run/secrets/kubernetes.io/serviceaccount
  readOnly: true
{{- /* For the files of `pipewright ledger export` and `import`. */}}
- name: scratch
  mountPath: /var/lib/pipewright
{{- else -}}
- name: ledger
  mountPath: /var/lib/pipewright
{{- end -}}
{{- end }}

{{- define "pipewright.ledgerVolumes" -}}
{{- if include "pipewright.inCluster" . }}
{{- /* Kubernetes itself would mount the token into every container of the pod. */}}
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
