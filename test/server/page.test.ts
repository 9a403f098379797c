import { readFileSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fakeParts } from './fake-parts.ts'
import { running } from './running.ts'

const FOLDER = new URL('../../src/server/page/', import.meta.url)

const own = readdirSync(FOLDER).filter((file) => /\.(?:css|html|js)$/.test(file))
const files = [...own, 'preact.js', 'htm.js', 'simple.css']

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

  it('is less than 130 kB in all', async () => {
    const { url } = await running(fakeParts())
    const texts = await Promise.all(
      files.map(async (file) => (await fetch(`${url}/${file.replace('index.html', '')}`)).text()),
    )
    expect(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)).toBeLessThan(130_000)
  })

  it.each(files.filter((file) => file !== 'index.html'))('serves %s with its type', async (file) => {
    const { url } = await running(fakeParts())
    const reply = await fetch(`${url}/${file}`)
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toMatch(
      file.endsWith('.css') ? /^text\/css/ : /^text\/javascript/,
    )
    const text = await reply.text()
    expect(text).not.toMatch(/^import .* from '[^.]/m)
    const sent = own.includes(file) ? readFileSync(new URL(file, FOLDER), 'utf8') : text
    expect(text.replaceAll(/\.\/(preact|htm)\.js/g, '$1')).toBe(sent)
  })

  it.each(own.filter((file) => file.endsWith('.js')))('%s brings text in as text only', (file) => {
    const code = readFileSync(new URL(file, FOLDER), 'utf8')
    expect(code).not.toMatch(
      /innerHTML|dangerouslySet|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/,
    )
  })

  it.each(own)('%s loads nothing from elsewhere and has no style or script in line', (file) => {
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
