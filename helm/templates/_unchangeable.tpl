{{/*
Faults that only the cluster shows (`lookup`; nothing with `helm template`). Helm finds them before the upgrade changes anything.
*/}}
{{- define "pipewright.unchangeable" -}}
{{- $name := include "pipewright.fullname" . -}}
{{- $namespace := .Release.Namespace -}}
{{- $inCluster := include "pipewright.inCluster" . -}}
{{- $kind := $inCluster | empty | ternary "StatefulSet" "Deployment" -}}
{{- $workload := lookup "apps/v1" $kind $namespace $name -}}
{{- $other := lookup "apps/v1" ($inCluster | empty | ternary "Deployment" "StatefulSet") $namespace $name -}}
{{- $claim := include "pipewright.claim" . -}}
{{- $remove := printf "kubectl -n %s delete statefulset %s --cascade=orphan" $namespace $name -}}
{{- $spec := ($workload | default dict).spec | default dict -}}
{{- $changed := "" -}}
{{- if and $workload (not $inCluster) -}}
{{- $changed = include "pipewright.changedClaim" (list . ($spec.volumeClaimTemplates | default list)) -}}
{{- end -}}
{{- if and $workload (not $inCluster) (or (ne ($spec.podManagementPolicy | default "") "Parallel") (ne ($spec.serviceName | default "") (printf "%s-headless" $name))) -}}
{{- printf "An earlier chart made the StatefulSet %s, and Kubernetes never changes its serviceName and podManagementPolicy. Remove it without its pod, and upgrade again: %s. The pod and the claim with the ledger stay." $name $remove -}}
{{- else if and $workload (ne (toJson $spec.selector.matchLabels) (include "pipewright.selectorLabels" . | fromYaml | toJson)) -}}
{{- printf "The %s %s has the labels %s, and Kubernetes never changes them: set nameOverride back, and keep the name of the release." $kind $name (toJson $spec.selector.matchLabels) -}}
{{- else if $changed -}}
{{- printf "%s is not what the StatefulSet %s was made with, and Kubernetes never changes that. Set it back; or change the claim, remove the StatefulSet without its pod (%s), and upgrade again: \"What cannot be changed later\" in the README of the chart." $changed $name $remove -}}
{{- else if and $inCluster (not .Values.diagnosticMode) $other -}}
{{- printf "The ledger is on a claim, and the StatefulSet %s works with it. With an empty ledger in the cluster, existing pipes would be created a second time. Move it with diagnosticMode=true: \"From a file into the cluster\" in the README of the chart." $name -}}
{{- else if and $inCluster (not .Values.diagnosticMode) (not (lookup "v1" "Secret" $namespace $name)) (lookup "v1" "PersistentVolumeClaim" $namespace $claim) -}}
{{- printf "The cluster has no ledger %s yet, and there is one on the claim %s: pipes that are in it would be created a second time. Import it first: \"From a file into the cluster\" in the README of the chart. If it is of no use, delete the claim: kubectl -n %s delete pvc %s." $name $claim $namespace $claim -}}
{{- else if and (not $inCluster) (not $workload) .Release.IsUpgrade (not .Values.diagnosticMode) $other -}}
{{- printf "The ledger is in the cluster, and the Deployment %s works with it. With an empty ledger on a claim, existing pipes would be created a second time. Set ledger.type back to kubernetes; or move it with diagnosticMode=true: \"Back into a file\" in the README of the chart." $name -}}
{{- else if and .Release.IsUpgrade (not $workload) (not (and $inCluster (or .Values.diagnosticMode (lookup "v1" "Secret" $namespace $name)))) -}}
{{- include "pipewright.renamed" (list . $kind) -}}
{{- end -}}
{{- end }}

{{/* The workload of this release under another name: the upgrade would remove it, and leave its ledger behind. */}}
{{- define "pipewright.renamed" -}}
{{- $root := index . 0 -}}
{{- $kind := index . 1 -}}
{{- $name := include "pipewright.fullname" $root -}}
{{- range (lookup "apps/v1" $kind $root.Release.Namespace "").items -}}
{{- $labels := .metadata.labels | default dict -}}
{{- $isOurs := and (regexMatch (printf "^%s-[0-9]+[.]" $root.Chart.Name) (get $labels "helm.sh/chart")) (eq (get $labels "app.kubernetes.io/instance") $root.Release.Name) -}}
{{- /* A sandbox has no ledger to keep. */}}
{{- $isStaying := and (eq $kind "StatefulSet") (or $root.Values.ledger.existingClaim (empty .spec.volumeClaimTemplates) (contains "\"PIPEWRIGHT_SANDBOX\"" (toJson .spec))) -}}
{{- if and $isOurs (ne .metadata.name $name) (not $isStaying) -}}
{{- $keep := eq $kind "StatefulSet" | ternary (printf "keep the ledger with ledger.existingClaim: ledger-%s-0" .metadata.name) "export its ledger, and import it under the new name" -}}
{{- printf "This upgrade would put a %s %s in the place of %s, with an empty ledger: existing pipes would be created a second time. Keep its name, with fullnameOverride: %s, and nameOverride as it was; or %s." $kind $name .metadata.name .metadata.name $keep -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The values that ask for another claim, (list . its-claim-templates). */}}
{{- define "pipewright.changedClaim" -}}
{{- $ledger := (index . 0).Values.ledger -}}
{{- $changed := list -}}
{{- $claim := index . 1 | first -}}
{{- if ne (empty $claim) (not (empty $ledger.existingClaim)) -}}
{{- $changed = list "ledger.existingClaim" -}}
{{- else if $claim -}}
{{- $class := kindIs "string" $ledger.storageClassName | ternary (list $ledger.storageClassName) list -}}
{{- $hadClass := hasKey $claim.spec "storageClassName" | ternary (list $claim.spec.storageClassName) list -}}
{{- if ne (include "pipewright.quantity" $claim.spec.resources.requests.storage) (include "pipewright.quantity" $ledger.size) -}}{{- $changed = append $changed "ledger.size" -}}{{- end -}}
{{- if ne (toJson $class) (toJson $hadClass) -}}{{- $changed = append $changed "ledger.storageClassName" -}}{{- end -}}
{{- if ne (toJson $claim.spec.accessModes) (toJson $ledger.accessModes) -}}{{- $changed = append $changed "ledger.accessModes" -}}{{- end -}}
{{- if ne (toJson ($claim.metadata.annotations | default dict)) (toJson ($ledger.annotations | default dict)) -}}{{- $changed = append $changed "ledger.annotations" -}}{{- end -}}
{{- end -}}
{{- join ", " $changed -}}
{{- end }}
