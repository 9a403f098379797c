import type { Journal } from './journal.ts'
import { FLAWS, type Lineage } from './lineage.ts'
import { editWish } from './cloud/edits.ts'
import type { Model } from './model.ts'
import type { Random } from './random.ts'
import { SERVICES } from './world.ts'

/** What a person, or a `git pull`, does to the manifests. */
export type Edits = ReturnType<typeof createEdits>

export interface EditsParts {
  readonly model: Model
  readonly journal: Journal
  readonly random: Random
  /** About how many pipes have a manifest. */
  readonly manifests: number
  /** Told of every new pipe before its manifest is written. */
  readonly onNew: (lineage: Lineage) => void
}

export function createEdits({ model, journal, random, manifests, onNew }: EditsParts) {
  let moves = 0

  function some(fits: (lineage: Lineage) => boolean): Lineage | undefined {
    const candidates = model.lineages.filter(fits)
    return candidates.length === 0 ? undefined : random.pick(candidates)
  }

  function on(lineage: Lineage | undefined, what: string, apply: (lineage: Lineage) => void): void {
    if (lineage === undefined) return
    apply(lineage)
    model.touch(lineage)
    journal.note(lineage.platformName, `edit: ${what} (Pipe/${lineage.name} in ${lineage.file})`)
  }

  function add() {
    if (model.lineages.filter(isPresent).length >= manifests * 1.1) return remove()
    const lineage = model.add()
    onNew(lineage)
    journal.note(lineage.platformName, `edit: new (Pipe/${lineage.name} in ${lineage.file})`)
  }

  function remove() {
    on(some(isPresent), 'removed', (lineage) => {
      lineage.present = false
    })
  }

  function bringBack() {
    on(
      some(({ present: here }) => !here),
      'brought back',
      (lineage) => {
        lineage.present = true
      },
    )
  }

  function change() {
    const wished = some(({ present: here, wish }) => here && wish !== undefined)
    if (wished !== undefined) {
      const what = editWish(wished, random)
      if (what !== undefined) on(wished, what, () => undefined)
      return
    }
    on(some(isPresent), 'replicas edited', (lineage) => {
      lineage.replicas += 1
      lineage.edited = true
    })
  }

  function undo() {
    on(
      some(({ present: here, replicas }) => here && replicas > 1),
      'edit undone',
      (lineage) => {
        lineage.replicas = 1
      },
    )
  }

  function rename() {
    moves += 1
    on(some(isFree), 'metadata.name changed', (lineage) => {
      const former = [...lineage.formerNames].find((name) => name !== lineage.name)
      const next = former !== undefined && random.chance(0.3) ? former : `${lineage.platformName}-n${moves}`
      lineage.formerNames.add(lineage.name)
      lineage.name = next
    })
  }

  function moveFile() {
    moves += 1
    const lineage = some(isPresent)
    if (lineage === undefined) return
    const target = random.chance(0.5) ? some(isPresent)?.file : undefined
    model.moveFile(lineage, target ?? `moved/m-${moves}.yaml`)
    journal.note(lineage.platformName, `edit: file moved to ${lineage.file}`)
  }

  function spoil() {
    const flaw = random.pick(FLAWS)
    on(some(isPresent), `made invalid: ${flaw}`, (lineage) => {
      lineage.flaw = flaw
    })
  }

  function fix() {
    on(
      some(({ present: here, flaw }) => here && flaw !== undefined),
      'fixed',
      (lineage) => {
        lineage.flaw = undefined
      },
    )
  }

  function suspend() {
    on(some(isPresent), 'suspended', (lineage) => {
      lineage.suspendedUntil = new Date(Date.now() + random.between(3_000, 15_000)).toISOString()
    })
  }

  function endpoint() {
    const service = random.pick(SERVICES)
    model.setOrigins(service, `https://${service}.example,https://o${random.below(50)}.example`)
    journal.note(undefined, `edit: origins of QueryEndpoint/${service}`)
  }

  return {
    /** One edit, chosen by chance, in the model only. */
    edit() {
      random.weighted([
        [26, add],
        [14, remove],
        [12, bringBack],
        [model.lineages.some(({ wish }) => wish !== undefined) ? 60 : 8, change],
        [5, undo],
        [9, rename],
        [6, moveFile],
        [7, spoil],
        [9, fix],
        [2, suspend],
        [3, endpoint],
      ])()
    },
    /** A manifest for everybody, and nothing wrong with any. */
    mend() {
      for (const lineage of model.lineages) {
        lineage.present = true
        lineage.flaw = undefined
        lineage.suspendedUntil = undefined
        const { wish, wasStopped } = lineage
        // What somebody did in the console is to be put right, and what was stopped is to run unless it is said.
        if (wish !== undefined)
          lineage.wish = {
            ...wish,
            onDrift: 'correct',
            paused: wasStopped ? (wish.paused ?? false) : wish.paused,
          }
        model.touch(lineage)
      }
      journal.note(undefined, 'edit: every manifest is back and valid')
    },
  }
}

function isPresent({ present }: Lineage): boolean {
  return present
}

/** The person's word is not to be lost on the way to another name. */
function isFree({ present, adopt, renamedFrom }: Lineage): boolean {
  return present && adopt === undefined && renamedFrom === undefined
}
