import { describe } from 'vitest'
import { testRefusals } from './support/chart-refusals.ts'

/* What the pod reads and mounts: refused where a secret would be seen, or where two would be one. */

const BAD = `
"the platform's Secrets among those that manifests can name":
  [{adminToken: {secretName: admin}, credentials: [{name: analytics-api}, {name: alerts, secretName: key}],
   secrets: [{name: analytics-api}, {name: kafka, secretName: key}, {name: b, secretName: admin}]},
   'secrets mounts the Secret "analytics-api", which credentials or adminToken mounts as well', 'secrets mounts the Secret "key"',
   'secrets mounts the Secret "admin"']
a token in the address of the repository:
  [{source: {configMap: '', git: {repository: 'HTTPS://ghp_secret@git.example/p.git'}}}, "at '/source/git/repository'"]
a repository of a scheme that is none:
  [{source: {configMap: '', git: {repository: 'htps://git.example/p.git'}}}, "at '/source/git/repository'"]
flags of git-sync that the chart sets:
  [{source: {configMap: '', git: {repository: 'https://git.example/p.git', extraArgs: ['--period=5s', '--root', '/elsewhere', '--stale-worktree-timeout=1m']}}},
   "at '/source/git/extraArgs/0': value must be 'an argument that the chart does not set'", "at '/source/git/extraArgs/1'"]
git-sync without a version:
  [{source: {configMap: '', git: {repository: 'https://git.example/p.git', image: 'registry.example:5000/git-sync'}}},
   "at '/source/git/image'"]
what would be in the pod twice:
  [{source: {configMap: '', git: {repository: 'https://git.example/p.git', containerExtra: {env: [{name: HOME, value: '/root'}], volumeMounts: [{name: own, mountPath: '/tmp'}]}}},
   proxy: {httpsProxy: 'http://proxy.example:3128'}, extraEnv: [{name: HTTPS_PROXY, value: 'http://other.example'}],
   secrets: [{name: team.kafka}, {name: team-kafka}], extraVolumes: [{name: ledger, emptyDir: {}}], ledger: {existingClaim: mine},
   extraVolumeMounts: [{name: own, mountPath: '/var/lib/pipewright'}]},
   'variables of the container pipewright: HTTPS_PROXY is there twice', 'volumes: secret-team-kafka is there twice',
   'volumes: ledger is there twice', 'mounts of the container pipewright: /var/lib/pipewright is there twice',
   'variables of the container git-sync: HOME is there twice', 'mounts of the container git-sync: /tmp is there twice']
a container that would be in the pod twice:
  [{extraContainers: [{name: beside, image: x}],
   podSpecExtra: {initContainers: [{name: pipewright, image: x}, {name: beside, image: x}]}},
   'containers: pipewright is there twice', 'containers: beside is there twice']
SSH without a key:
  [{source: {configMap: '', git: {repository: 'git@git.example:p.git'}}},
   "at '/source/git/ssh/secretName': value must be 'a Secret with the key and known_hosts"]
a key for HTTPS:
  [{source: {configMap: '', git: {repository: 'https://git.example/p.git', ssh: {secretName: k}}}},
   "at '/source/git/ssh/secretName': value must be 'empty for an https: repository"]
two ways to log in:
  [{source: {configMap: '', git: {repository: 'git@git.example:p.git', ssh: {secretName: k}, token: {secretName: t}}}},
   "at '/source/git/token/secretName': value must be 'empty for a repository over SSH"]
a secret that no folder can be called after: [{secrets: [{name: '../etc'}]}, "at '/secrets/0/name'"]
a secret without a name: [{secrets: [{}]}, "missing property 'name'"]
`

describe('what would show a secret or be there twice is refused', () => {
  testRefusals(BAD)
})
