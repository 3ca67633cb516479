import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  findTemplateProblem,
  findUrlProblem,
  toResourceKey,
} from '../../../src/extensions/bazaar/resourceUrl.js'

const keyOf = (url: string, routeTemplate: string | null = null) =>
  toResourceKey(url, { routeTemplate, toolName: '' }).url

const url = fc.webUrl({ withQueryParameters: true, withFragments: true })
// Grows dots, slashes and escapes of escapes.
const template = fc
  .array(
    fc.constantFrom('.', '..', '/', '%2e', '%2E', '%252e', '%25', '%2f', '%5c', ':id', 'a', '~', '%', '//'),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  .map((parts) => `/${parts.join('')}`)

describe('the key of a resource', () => {
  it.each([
    ['HTTPS://API.Example:443/a?b=1#c', 'https://api.example/a'],
    ['http://api.example:80', 'http://api.example/'],
    ['https://api.example./a', 'https://api.example/a'],
    ['https://api.example:8443/a/', 'https://api.example:8443/a/'],
    ['https://api.example/a/./b/../c/%2e%2e/d', 'https://api.example/a/d'],
    ['https://api.example/%7euser/%c3%a9', 'https://api.example/~user/%C3%A9'],
    ['https://p\u0430ypal.com/', 'https://xn--pypal-4ve.com/'],
    ['https://api.example\\@evil.example/', 'https://api.example/@evil.example/'],
  ])('of %s is %s', (text, key) => {
    expect(keyOf(text)).toBe(key)
  })

  it('has the route template in place of the path', () => {
    expect(keyOf('https://api.example/users/7?x=1', '/users/:id')).toBe('https://api.example/users/:id')
  })

  it('is its own key, without query, fragment and credentials', () => {
    fc.assert(
      fc.property(url, (text) => {
        fc.pre(findUrlProblem(text) === null)
        const key = keyOf(text)
        expect(keyOf(key)).toBe(key)
        expect(key).not.toMatch(/[?#]|%[0-9]?[a-f]/)
        expect(key.startsWith(new URL(text).protocol)).toBe(true)
      }),
    )
  })

  it('never leaves the path of its template, however often it is decoded', () => {
    fc.assert(
      fc.property(template, (path) => {
        fc.pre(findTemplateProblem(path) === null)
        const key = keyOf('https://api.example/x', path)
        let decoded = key
        for (let pass = 0; pass < 10; pass += 1) decoded = decodeURIComponent(decoded)
        expect(decoded).not.toContain('..')
        expect(new URL(key).origin).toBe('https://api.example')
        expect(keyOf(key)).toBe(key)
      }),
      { numRuns: 2_000 },
    )
  })
})
