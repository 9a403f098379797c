import { describe } from 'vitest'
import { fromGit } from './support/chart.ts'
import { type BadValues, testRefusals } from './support/chart-refusals.ts'

/* What the pod reads and mounts: refused where a secret would be seen, or where two would be one. */

const BAD: readonly BadValues[] = [
  {
    why: "the platform's Secrets among those that manifests can name",
    values: {
      adminToken: { secretName: 'admin' },
      credentials: [{ name: 'analytics-api' }, { name: 'alerts', secretName: 'key' }],
      secrets: [
        { name: 'analytics-api' },
        { name: 'kafka', secretName: 'key' },
        { name: 'b', secretName: 'admin' },
      ],
    },
    says: [
      'secrets mounts the Secret "analytics-api", which credentials or adminToken mounts as well',
      'secrets mounts the Secret "key"',
      'secrets mounts the Secret "admin"',
    ],
  },
  {
    why: 'a token in the address of the repository',
    values: fromGit({ repository: 'HTTPS://ghp_secret@git.example/p.git' }),
    says: ["at '/source/git/repository'"],
  },
  {
    why: 'a repository of a scheme that is none',
    values: fromGit({ repository: 'htps://git.example/p.git' }),
    says: ["at '/source/git/repository'"],
  },
  {
    why: 'flags of git-sync that the chart sets',
    values: fromGit({
      extraArgs: ['--period=5s', '--root', '/elsewhere', '--stale-worktree-timeout=1m'],
    }),
    says: [
      "at '/source/git/extraArgs/0': value must be 'an argument that the chart does not set'",
      "at '/source/git/extraArgs/1'",
    ],
  },
  {
    why: 'git-sync without a version',
    values: fromGit({ image: 'registry.example:5000/git-sync' }),
    says: ["at '/source/git/image'"],
  },
  {
    why: 'what would be in the pod twice',
    values: {
      ...fromGit({
        containerExtra: {
          env: [{ name: 'HOME', value: '/root' }],
          volumeMounts: [{ name: 'own', mountPath: '/tmp' }],
        },
      }),
      proxy: { httpsProxy: 'http://proxy.example:3128' },
      extraEnv: [{ name: 'HTTPS_PROXY', value: 'http://other.example' }],
      secrets: [{ name: 'team.kafka' }, { name: 'team-kafka' }],
      extraVolumes: [{ name: 'ledger', emptyDir: {} }],
      ledger: { existingClaim: 'mine' },
      extraVolumeMounts: [{ name: 'own', mountPath: '/var/lib/pipewright' }],
    },
    says: [
      'variables of the container pipewright: HTTPS_PROXY is there twice',
      'volumes: secret-team-kafka is there twice',
      'volumes: ledger is there twice',
      'mounts of the container pipewright: /var/lib/pipewright is there twice',
      'variables of the container git-sync: HOME is there twice',
      'mounts of the container git-sync: /tmp is there twice',
    ],
  },
  {
    why: 'a container that would be in the pod twice',
    values: {
      extraContainers: [{ name: 'beside', image: 'x' }],
      podSpecExtra: {
        initContainers: [
          { name: 'pipewright', image: 'x' },
          { name: 'beside', image: 'x' },
        ],
      },
    },
    says: ['containers: pipewright is there twice', 'containers: beside is there twice'],
  },
  {
    why: 'SSH without a key',
    values: fromGit({ repository: 'git@git.example:p.git' }),
    says: ["at '/source/git/ssh/secretName': value must be 'a Secret with the key and known_hosts"],
  },
  {
    why: 'a key for HTTPS',
    values: fromGit({ ssh: { secretName: 'k' } }),
    says: ["at '/source/git/ssh/secretName': value must be 'empty for an https: repository"],
  },
  {
    why: 'two ways to log in',
    values: fromGit({
      repository: 'git@git.example:p.git',
      ssh: { secretName: 'k' },
      token: { secretName: 't' },
    }),
    says: ["at '/source/git/token/secretName': value must be 'empty for a repository over SSH"],
  },
  {
    why: 'a secret that no folder can be called after',
    values: { secrets: [{ name: '../etc' }] },
    says: ["at '/secrets/0/name'"],
  },
  { why: 'a secret without a name', values: { secrets: [{}] }, says: ["missing property 'name'"] },
]

describe('what would show a secret or be there twice is refused', () => {
  testRefusals(BAD)
})
