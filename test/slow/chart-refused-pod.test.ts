import { testRefusals } from './support/chart-refusals.ts'

/*
 * Kubernetes looks at the pod of a StatefulSet when it makes it, and not when the StatefulSet changes: what it refuses there would be
 * taken by `helm upgrade`, end the pod that runs, and let no other come. The same of the template of its claim.
 */

const BAD = `
a limit below what the chart asks for:
  [{resources: {limits: {memory: '128Mi', cpu: 0.02}},
   source: {configMap: '', git: {repository: 'https://git.example/p.git', containerExtra: {resources: {limits: {ephemeral-storage: '100M'}}}}}},
   The container pipewright requests more memory (192Mi) than its limit (128Mi),
   The container pipewright requests more cpu (50m) than its limit (0.02),
   The container git-sync requests more ephemeral-storage (128Mi) than its limit (100M)]
resources of no name, and of no size:
  [{resources: {limits: {memry: '1Gi', memory: '512m'}, requests: {cpu: half}},
   source: {git: {containerExtra: {resources: {requests: {memory: '64MB'}}}}}}, "'memry' not allowed",
   "at '/resources/limits/memory'", "at '/resources/requests/cpu'", "at '/source/git/containerExtra/resources/requests/memory'"]
mounts of volumes that are not there:
  [{source: {configMap: '', git: {repository: 'https://git.example/p.git', containerExtra: {volumeMounts: [{name: netrc, mountPath: '/n'}]}}},
   extraVolumes: [{name: ca, configMap: {name: ca}}],
   extraVolumeMounts: [{name: ca, mountPath: '/ca'}, {name: cb, mountPath: '/cb'}],
   podSpecExtra: {initContainers: [{name: first, image: busybox, volumeMounts: [{name: git, mountPath: '/git'}]}, {name: second, image: busybox, volumeMounts: [{name: manifests, mountPath: '/manifests'}]}]}},
   'The container git-sync mounts the volume "netrc", which is not in the pod', 'The container pipewright mounts the volume "cb"',
   'The container second mounts the volume "manifests"']
parts of the pod that lack something, or are of no form:
  [{extraVolumeMounts: [{name: x}], extraVolumes: [{name: My_volume}], extraContainers: [{name: x}],
   extraEnv: [{name: A B}, {name: A, value: x, valueFrom: {secretKeyRef: {name: x, key: y}}}],
   podSpecExtra: {hostAliases: [{ip: git.internal}], nodeSelector: {a b: c}}, podLabels: {team: data platform},
   ledger: {accessModes: []}}, "at '/extraVolumeMounts/0': missing property 'mountPath'", "at '/extraVolumes/0/name'",
   "at '/extraContainers/0': missing property 'image'", "at '/extraEnv/0/name'", "at '/extraEnv/1': 'not' failed",
   "at '/podSpecExtra/hostAliases/0/ip'", "at '/podLabels/team'", "invalid propertyName 'a b'", "at '/ledger/accessModes'"]
names that nobody resolves: [{podSpecExtra: {dnsPolicy: None}}, "at '/podSpecExtra': missing property 'dnsConfig'"]
a claim that is never bound:
  [{ledger: {size: '0Gi', accessModes: [ReadWriteOncePod, ReadWriteOnce]}}, "at '/ledger/size'", "at '/ledger/accessModes'"]
an address without the bits of its network:
  [{networkPolicy: {dns: [{ipBlock: {cidr: '169.254.20.10'}}]}}, "at '/networkPolicy/dns/0/ipBlock/cidr'"]
a volume of manifests of which nothing is left:
  [{source: {configMap: '', volume: {emptyDir: null}}}, There is no source of manifests]
a volume of manifests with a name, which the chart gives it:
  [{source: {configMap: '', volume: {name: pipes}}}, "at '/source/volume'"]
settings of git-sync with which it ends at once:
  [{source: {configMap: '', git: {repository: 'https://git.example/p.git', period: '5ms'}}},
   'source.git.period: 5ms is not from 10ms to 2562047h']
addresses that are none, where the program ends with 64:
  [{proxy: {httpsProxy: 'http://proxy.example:99999', httpProxy: 'http://proxy.example:port'}, clusterDomain: cluster..local,
   allowedHosts: [pipes..example], settings: {repository-url: 'https://git.example:99999/{file}'}}, "at '/proxy/httpsProxy'",
   "at '/proxy/httpProxy'", "at '/clusterDomain'", "at '/allowedHosts/0'", "at '/settings/repository-url'"]
settings that go round their form by a prefix, and two places of one authority:
  [{containerExtra: {envFrom: [{prefix: PIPEWRIGHT_, secretRef: {name: x}}]}, tls: {ca: {secretName: a, configMap: b}}},
   "at '/containerExtra/envFrom/0/prefix': value must be 'a prefix other than PIPEWRIGHT_",
   "at '/tls/ca/configMap': value must be 'empty: tls.ca.secretName is set as well'"]
`

testRefusals(BAD)
