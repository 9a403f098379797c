import { test } from 'vitest'
import { SERVICE } from '../support/manifests.ts'
import { type Step, story } from '../ways-out/story.ts'
import { given } from './listed-world.ts'

/* What commands say of deletions, against the sandbox. */

/** Pipes that were created, with these names, and seen in sync. */
function createdStory(names: string, ...steps: readonly Step[]): Promise<void> {
  const written = names.split(' ').map((name) => `write ${name} policy.onImmutable=replace`)
  const world = given([], { fixture: { times: { deletingMs: 0 } } })
  return story(
    world,
    ...written,
    'apply\nlater 20 min\napply\nchanges ' + names.replaceAll(/\w+/g, 'createPipe').replaceAll(' ', ', '),
    ...steps,
  )
}

test('a plan says what is deleted, when, and what stays; then the manifest can go', () =>
  createdStory(
    'a b c',
    `write a policy.ensure=absent
    apply
    reasons a=Deleting b=InSync c=InSync
    plan => 2 | - Pipe/a delete Deleting | The pipe will be deleted at 20 | Its destination tables and their data stay.
    later 11 min
    apply
    changes deletePipe
    shows Pipe/a Progressing Deleting | The request to delete the pipe was sent at 
    later 1 min
    apply
    reasons a=Absent b=InSync c=InSync
    status | Pipe/a Absent
    plan
    remove a
    apply
    reasons b=InSync c=InSync`,
  ))

test('a plan says what is replaced, with what it was before', () =>
  createdStory(
    'a b',
    `write a policy.onImmutable=replace stream=z
    plan => 2 | - Pipe/a delete Deleting | streamName…a…z | Then the new one is created.
    changes none`,
  ))

test('more than the limit are held back, all of them, until a person allows them', () =>
  createdStory(
    'a b c d e',
    `write a policy.ensure=absent
    write b policy.ensure=absent
    apply => 1
    later 11 min
    apply => 1
    reasons a=DeleteLimit b=DeleteLimit c=InSync d=InSync e=InSync
    shows Pipe/a Refused DeleteLimit | In service analytics, 2 of 5 pipes would be deleted. The limit is 1: a tenth of them, but at least one and at most five.
    | No resource is deleted. If you intend so many deletions, allow them once:
    | "pipewright allow --deletions --service analytics". If not, undo the edits.
    allow --service analytics | The create limit blocks no resource now
    allow --deletions --service analytics --dry-run
    | The limit on deletions blocks 2 deletions in service analytics. No action was allowed:
    changes none
    allow --deletions --service analytics | Allowed 2 deletions in service analytics, once
    write c policy.ensure=absent
    apply
    apply
    changes deletePipe, deletePipe`,
  ))

const service =
  (text: string): Step =>
  ({ workspace }) =>
    workspace.write('manifests/service.yaml', text)

test('the limit counts anew once a Service manifest that had errors is back', () =>
  createdStory(
    'a b c d e',
    service(SERVICE.replace('serviceId', 'serviceIdd')),
    `write a policy.ensure=absent
    write b policy.ensure=absent
    apply => 1
    later 11 min
    apply => 1
    shows Pipe/a Refused DependencyNotReady`,
    service(SERVICE),
    `apply => 1
    later 11 min
    apply => 1
    reasons a=DeleteLimit b=DeleteLimit c=InSync d=InSync e=InSync
    changes none`,
  ))

test('most manifests are lost while they wait to be replaced: that is not believed', () =>
  createdStory(
    'a b c d',
    ...['a', 'b', 'c', 'd'].map((name) => `write ${name} policy.onImmutable=replace stream=${name}2`),
    `apply => 1
    later 11 min
    apply => 1
    shows Pipe/a Refused DeleteLimit
    remove a
    remove b
    remove c
    remove d
    apply => 1 | lost 4 of 4 manifests`,
  ))
