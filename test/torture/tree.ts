import { setTimeout as pause } from 'node:timers/promises'
import { cp, mkdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { cutOff } from './lineage.ts'
import type { Random } from './random.ts'

/** What a batch of edits does to files; undefined: the file goes. */
export type FileChanges = ReadonlyMap<string, string | undefined>

/** The directory of manifests, on which a person or a tool like git-sync works while the daemon reads it. */
export type Tree = Awaited<ReturnType<typeof createTree>>

export async function createTree(dir: string, random: Random) {
  const path = join(dir, 'manifests')
  let layout: 'plain' | 'link' = 'plain'
  let revision = 0
  await mkdir(path, { recursive: true })

  async function write(root: string, [file, text]: readonly [string, string | undefined]): Promise<void> {
    const target = join(root, file)
    if (text === undefined) return rm(target, { force: true })
    await mkdir(dirname(target), { recursive: true })
    const how = random.below(3)
    if (how === 0) return writeFile(target, text)
    if (how === 1) {
      // an editor's save: a file beside it, and a rename
      await writeFile(`${target}.swp`, text)
      return rename(`${target}.swp`, target)
    }
    await writeFile(target, cutOff(text, 0.5))
    await pause(random.between(0, 40))
    return writeFile(target, text)
  }

  async function pointTo(tree: string): Promise<void> {
    await symlink(tree, `${path}.new`)
    await rename(`${path}.new`, path)
  }

  function nextTree(): string {
    revision += 1
    return join(dir, 'trees', `rev-${revision}`)
  }

  return {
    /** What `--manifests` names. */
    path,
    get layout() {
      return layout
    },
    /** File by file, as editors and `git checkout` do. */
    async apply(changes: FileChanges) {
      for (const change of changes) {
        await write(path, change)
        // A slow disk, or a person who saves one file after the other: what is read in between is half an edit.
        if (random.chance(0.1)) await pause(random.between(300, 1_500))
      }
    },
    /** All at once: the whole tree gives way to another one, as git-sync does. */
    async swap(changes: FileChanges) {
      const next = nextTree()
      await mkdir(dirname(next), { recursive: true })
      const before = layout === 'link' ? await readlink(path) : path
      await cp(before, next, { recursive: true })
      for (const [file, text] of changes) {
        if (text === undefined) await rm(join(next, file), { force: true })
        else {
          await mkdir(dirname(join(next, file)), { recursive: true })
          await writeFile(join(next, file), text)
        }
      }
      if (layout === 'link') {
        await pointTo(next)
        await rm(before, { recursive: true })
        return
      }
      await rename(path, `${path}.old`)
      await rename(next, path)
      await rm(`${path}.old`, { recursive: true })
    },
    /** Takes the whole directory away and puts it back. */
    async blink(ms: number) {
      await rename(path, `${path}.away`)
      await pause(ms)
      await rename(`${path}.away`, path)
    },
    /** Makes a plain directory of a linked one, or the other way round; only while nobody watches. */
    async relayout() {
      if (layout === 'plain') {
        const tree = nextTree()
        await mkdir(dirname(tree), { recursive: true })
        await rename(path, tree)
        await pointTo(tree)
        layout = 'link'
        return
      }
      const tree = await readlink(path)
      await rm(path)
      await rename(tree, path)
      layout = 'plain'
    },
  }
}
