import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bannedIn } from '../support/plain-words.ts'
import { ROOT } from '../support/process.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const prose = (text: string) => text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '')

const DOCS = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)
const PAGES = [...DOCS, 'README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'helm/README.md']

/** As GitHub makes them of headings. */
function anchorsIn(path: string): readonly string[] {
  const headings = prose(read(path)).match(/(?<=^#+ ).+$/gm) ?? []
  const plain = headings.map((heading) => heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, ''))
  return plain.map((heading) => heading.replaceAll(' ', '-'))
}

describe.each([...PAGES, 'CHANGELOG.md'])('%s', (page) => {
  test('has links that lead somewhere', () => {
    const links = [...prose(read(page)).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link)
    const dead = links.filter((link) => {
      const [file = '', anchor] = link.split('#')
      const path = file === '' ? page : join(page, '..', file)
      if (!existsSync(join(ROOT, path))) return true
      return anchor !== undefined && !anchorsIn(path).includes(anchor)
    })
    expect(dead).toEqual([])
  })

  test('has plain words', () => {
    const [, unreleased] = page === 'CHANGELOG.md' ? read(page).split(/^## /m) : [] // names of before are quoted
    expect(bannedIn((unreleased ?? read(page)).replaceAll(/`[^`\n]*`|(?<=.)"[^"\n]*"/g, '`…`'))).toEqual([])
  })
})

test('tables have a header, without which they are shown as text', () => {
  for (const page of PAGES) expect.soft(read(page), page).not.toMatch(/^(?!\|).*\n\|[ :|-]+\|$/m)
})

test('pages begin with what they are for, and are in the index', () => {
  for (const page of DOCS) {
    const [title = '', first] = read(page)
      .split('\n\n')
      .filter((part) => !part.startsWith('<!--'))
    expect.soft(title, page).toMatch(/^# /)
    expect.soft(first, page).toMatch(/^[A-Z`][^|]{30,}/)
    expect.soft(`${read('docs/README.md')} README.md`, page).toContain(page.slice('docs/'.length))
  }
})

test('the pages for contributors name files and folders that are there', () => {
  const pages = DOCS.filter((page) => page.startsWith('docs/contributing/')).map(read)
  const named = [...pages.join('\n').matchAll(/`((?:src|test|docs|helm)\/[\w./-]*)`/g)]
  const paths = named.map(([, path = '']) => path)
  expect(paths.length).toBeGreaterThan(60)
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

/** Statements that name no profile, and the test that holds each with both. */
const HELD: Readonly<Record<string, RegExp>> = {
  'explore/stories.test.ts': /twice|second (?:pipe|create)|sends? no (?:byte|second)|pipe is lost/,
  'explore/first-stories-of-two.test.ts':
    /(?:no (?:resource|create|change)s?|cannot limit)\b.*(?:until|while|are made|a name|changed\b|had no)|sends no change|No creates or|no longer arrive|Kubernetes API/,
  'reconcile/older-manifests.test.ts': /stale checkout|another revision|checkout (?:moves|changes)/,
  'clickhouse-cloud/without-manifest.program.test.ts': /deletes? no|no pipe is deleted|No pipe was deleted/,
  'manifest/catalog.test.ts': /becomes empty|stays in force|unreadable manifests|never recorded/,
  'reconcile/ledger.test.ts': /ledger|makes no decisions|probes still answer/,
  'reconcile/create-limit.test.ts': /created there/,
  'plan/decide-deletion.test.ts': /made in place/,
  'platform/proxy.program.test.ts': /counts as missing/,
  'main/quiet.program.test.ts': /restart creates no pipe/,
  'reconcile/missing.test.ts': /never replaces it|replaces none of them/,
  'reconcile/rename.test.ts': /looks like|only a part is/,
  'manifest/lock-files.test.ts': /DependencyNotReady/,
}

const PROFILE = /default (?:profile|platform|interface)|ClickHouse Cloud|either profile|both profiles/i
const ONE_PROFILE =
  /default-platform|clickhouse-cloud|edit-and-delete|terraform|first-pipe|contributing|reference\/(?:logs|metrics|fields|sandbox)/
const ABSOLUTE = /\b(?:never|cannot|no (?:pipe|resource|create|change|byte|second|deletion)s?|deletes? no)\b/i
const VERB = /\b(?:creat|delet|updat|correct|replac|chang)(?:e|es|ed|s)?\b|\b(?:lists?|sends?)\b|twice/i

test('each "never" and "cannot" about changes names its profile, or is held by a test with both', () => {
  for (const [file] of Object.entries(HELD))
    expect.soft(existsSync(join(ROOT, 'test', file)), file).toBe(true)
  for (const page of PAGES.filter((path) => !ONE_PROFILE.test(path))) {
    const text = prose(read(page)).replaceAll(/([^\n|])\n {0,6}(?=[^\n|#*\d> -])/g, '$1 ')
    const loose = text
      .split(/(?<=[.!?|]["”)*_]*)\s+(?=["“(*_`[]*[A-Z0-9|])|\n/)
      .filter(
        (sentence) =>
          ABSOLUTE.test(sentence) && VERB.test(sentence) && /pipe|platform|it\b|resource/i.test(sentence),
      )
      .filter(
        (sentence) =>
          !PROFILE.test(sentence) && !/^(?:\W|\d)*(?:Never|Do not)\b|`never`|: never/.test(sentence),
      )
      .filter((sentence) => !Object.values(HELD).some((pattern) => pattern.test(sentence)))
    expect.soft(loose, page).toEqual([])
  }
})
