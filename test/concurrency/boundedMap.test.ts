import { describe, expect, it } from 'vitest'
import { setNewest } from '../../src/concurrency/boundedMap.js'

describe('setNewest', () => {
  it('drops the oldest entry for a new one when the map is full', () => {
    const map = new Map<string, number>()
    for (const [at, key] of ['a', 'b', 'c'].entries()) setNewest(map, key, at, 2)
    expect([...map]).toEqual([
      ['b', 1],
      ['c', 2],
    ])
  })

  it('drops none for an entry that is set again, and makes it the newest', () => {
    const map = new Map([
      ['a', 0],
      ['b', 1],
    ])
    setNewest(map, 'b', 2, 2)
    expect([...map.keys()]).toEqual(['a', 'b'])
    setNewest(map, 'a', 3, 2)
    expect([...map.keys()]).toEqual(['b', 'a'])
  })
})
