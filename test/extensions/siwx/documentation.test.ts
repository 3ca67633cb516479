import { describe, expect, it } from 'vitest'
import { signatureSchemes, signInReasons } from '../../../src/protocol/siwx.js'
import { readTable } from '../../support/markdown.js'
import { readText } from '../../support/readText.js'

const page = readText('docs/siwx.md')
const readName = (cell = ''): string => /^`([^`]+)`/.exec(cell)?.[1] ?? ''

describe('docs/siwx.md', () => {
  it('lists every reason with its sentence', () => {
    const listed = readTable(page, 'Sign-in reason').map((row) => [
      readName(row['Sign-in reason']),
      (row.Meaning ?? '').replace(/\.$/, ''),
    ])
    expect(Object.fromEntries(listed)).toEqual(signInReasons)
  })

  it('lists every signature scheme', () => {
    expect(readTable(page, 'Scheme').map(({ Scheme }) => readName(Scheme))).toEqual(signatureSchemes)
  })
})
