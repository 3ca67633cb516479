import { expect, it } from 'vitest'
import { createSharedPlaces } from '../../src/concurrency/slots.js'

const takeAll = (places: ReturnType<typeof createSharedPlaces>, holders: readonly string[]) => {
  const taken: (() => void)[] = []
  for (;;) {
    const release = places.take(holders)
    if (release === null) return taken
    taken.push(release)
  }
}

it('one holder takes an eighth of the free places', () => {
  expect(takeAll(createSharedPlaces(500), ['one'])).toHaveLength(56)
})

it('a newcomer has a place beside 30 greedy holders', () => {
  const places = createSharedPlaces(500)
  for (let holder = 0; holder < 30; holder += 1) takeAll(places, [`greedy ${holder}`])
  expect(places.take(['newcomer'])).not.toBeNull()
})

it('each of several holders of one place counts', () => {
  const places = createSharedPlaces(80)
  const own = Array.from({ length: 80 }, (_, index) => places.take([`network ${index}`, 'site'])).filter(
    (release) => release !== null,
  )
  expect(own).toHaveLength(9)
  expect(places.take(['network of another site', 'other site'])).not.toBeNull()
})

it('a place that is given back is free again, for its holder too', () => {
  const places = createSharedPlaces(80)
  const [first, ...others] = takeAll(places, ['one'])
  first?.()
  expect(takeAll(places, ['one'])).toHaveLength(1)
  for (const release of others) release()
  expect(places.take(['one'])).not.toBeNull()
})

it('there are no more places than there are', () => {
  const places = createSharedPlaces(3)
  expect(Array.from({ length: 5 }, (_, index) => places.take([`${index}`]) !== null)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
})
