import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import { read, ROOT } from '../support/process.ts'

const Renovate = z.object({
  customManagers: z.array(
    z.object({
      managerFilePatterns: z.array(z.string()),
      matchStrings: z.array(z.string()),
      depNameTemplate: z.string().optional(),
    }),
  ),
})

describe('updates of what this depends on', () => {
  const { customManagers } = Renovate.parse(JSON.parse(read('.github/renovate.json')))
  const files = ['.ci', '.github/workflows', 'test/slow/support', 'helm'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [`${folder}/${entry.name}`] : [],
    ),
  )
  const found = customManagers.flatMap(({ managerFilePatterns, matchStrings, depNameTemplate }) =>
    managerFilePatterns.flatMap((pattern) =>
      files
        .filter((file) => new RegExp(pattern.slice(1, -1)).test(file))
        .flatMap((file) =>
          matchStrings.flatMap((text) =>
            [...read(file).matchAll(new RegExp(text, 'g'))].map(
              ({ groups }) =>
                `${file}: ${depNameTemplate ?? groups?.['depName']} ${groups?.['currentValue']}`,
            ),
          ),
        ),
    ),
  )

  test.each(customManagers.map((manager) => [manager.matchStrings.join(), manager] as const))(
    'the pattern %s names files and finds something in them',
    (_pattern, { managerFilePatterns, matchStrings }) => {
      const named = files.filter((file) =>
        managerFilePatterns.some((pattern) => new RegExp(pattern.slice(1, -1)).test(file)),
      )
      expect(
        named.filter((file) => matchStrings.some((text) => new RegExp(text).test(read(file)))),
      ).not.toEqual([])
    },
  )

  test.each(['.ci/run', 'test/slow/support/tools.ts'])(
    'find each tool that Go installs, by the whole name of its module: %s',
    (file) => {
      const written = [...read(file).matchAll(/[\s'](\S+?)(?:\/cmd\/[\w-]+)?@(v\d\S*\d)/g)].map(
        ([, module, version]) => `${file}: ${module} ${version}`,
      )
      expect(written.length).toBeGreaterThan(5)
      expect(found.filter((line) => line.startsWith(`${file}: `))).toEqual(written)
    },
  )
})

describe('the pages for contributors', () => {
  const page = read('CONTRIBUTING.md') + read('docs/contributing/releasing.md')

  test('names scripts of package.json, and files that are there', () => {
    const scripts = [...page.matchAll(/npm run ([a-z:]+)/g)].map(([, name = '']) => name)
    expect(scripts.length).toBeGreaterThan(2)
    expect(scripts.filter((name) => !(name in packageJson.scripts))).toEqual([])
    const paths = [...page.matchAll(/(?:^|[ `])((?:\.ci|\.github|test|docs|helm)\/[\w./-]*\w)/gm)].map(
      ([, path = '']) => path,
    )
    expect(paths.length).toBeGreaterThan(2)
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })

  test('runs what is TypeScript with the Node of the project, for it promises that an older one will do', () => {
    expect(page.match(/(?:npx )?node \S+\.ts/g)).toEqual(['npx node .ci/release/version.ts'])
  })
})
