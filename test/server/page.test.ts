import { readFileSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fakeParts } from './fake-parts.ts'
import { running } from './running.ts'

const FOLDER = new URL('../../src/server/page/', import.meta.url)

/** What a browser loads. */
const files = readdirSync(FOLDER).filter((file) => /\.(?:css|html|js)$/.test(file))

describe('the page', () => {
  it('is HTML that loads only what the server has', async () => {
    const { url } = await running(fakeParts())
    const reply = await fetch(url)
    expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const html = await reply.text()
    expect(html).toContain('<html lang="en">')
    const wanted = [...html.matchAll(/(?:href|src)="([^"#:]+\.(?:css|js))"/g)].map(([, path]) => path)
    expect(new Set(wanted)).toEqual(new Set(files.filter((file) => file !== 'index.html')))
    for (const path of wanted) expect((await fetch(`${url}/${path}`)).status).toBe(200)
  })

  it('is less than 135 kB in all', () => {
    const bytes = files.map((file) => readFileSync(new URL(file, FOLDER)).byteLength)
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(135_000)
  })

  it.each(files.filter((file) => file !== 'index.html'))('serves %s with its type', async (file) => {
    const { url } = await running(fakeParts())
    const reply = await fetch(`${url}/${file}`)
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toMatch(
      file.endsWith('.css') ? /^text\/css/ : /^text\/javascript/,
    )
    expect(await reply.text()).toBe(readFileSync(new URL(file, FOLDER), 'utf8'))
  })

  it.each(files.filter((file) => file.endsWith('.js')))('%s brings text in as text only', (file) => {
    const code = readFileSync(new URL(file, FOLDER), 'utf8')
    expect(code).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/)
  })

  it.each(files)('%s loads nothing from elsewhere and has no style or script in line', (file) => {
    const text = readFileSync(new URL(file, FOLDER), 'utf8').replaceAll('http://www.w3.org/2000/svg', '')
    expect(text).not.toMatch(/https?:\/\//)
    expect(text).not.toMatch(/ style="| on\w+="|<style|<script>/)
  })

  it('gives nothing else of the disk', async () => {
    const { url } = await running(fakeParts())
    for (const path of [
      '/routes.ts',
      '/tsconfig.json',
      '/../server.ts',
      '/%2e%2e/server.ts',
      '/..%2fserver.ts',
    ]) {
      expect((await fetch(url + path)).status).toBe(404)
    }
  })
})
