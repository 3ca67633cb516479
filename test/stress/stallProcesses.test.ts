import { describe, expect, it } from 'vitest'
import { pollUntil } from '../support/pollUntil.js'
import { spawnChild } from '../support/spawnChild.js'
import { listDescendants, listProcesses, parseStat, stallProcesses } from './stallProcesses.js'

describe('a process', () => {
  it.each([
    ['42 (node) S 7 42 42 0', { pid: 42, name: 'node', state: 'S', parent: 7 }],
    ['42 (a (b) c) T 7 42', { pid: 42, name: 'a (b) c', state: 'T', parent: 7 }],
    ['', null],
  ])('is read from %j', (line, expected) => {
    expect(parseStat(line)).toEqual(expected)
  })

  it('has as descendants its children and theirs', () => {
    const parents = [
      [2, 1],
      [3, 2],
      [4, 1],
      [5, 9],
    ] as const
    const processes = parents.map(([pid, parent]) => ({ pid, parent, name: `${pid}`, state: 'S' }))
    expect(listDescendants(processes, 1).map(({ pid }) => pid)).toEqual([2, 3, 4])
  })
})

it.runIf(process.platform === 'linux')(
  'a stalled process stands still, and goes on when the run has ended',
  async () => {
    const child = spawnChild(['sleep', '600'], { stdio: 'ignore' })
    const findState = async () => (await listProcesses()).find(({ pid }) => pid === child.pid)?.state
    const ended = new AbortController()
    const stalling = stallProcesses(process.pid, 1_000, ended.signal)
    await pollUntil(async () => (await findState()) === 'T', 'the process to stand still')
    ended.abort()
    await stalling
    expect(await findState()).not.toBe('T')
    child.kill('SIGKILL')
  },
)
