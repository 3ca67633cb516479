import { randomUUID } from 'node:crypto'
import type { SandboxScenarios, Scenario, ScenarioScript } from '../../../src/ports/sandbox.js'

export interface MemoryScenarios extends SandboxScenarios {
  create(network: string, payer: string, script: Partial<ScenarioScript>): Scenario
  advance(id: string, milliseconds: number): void
  expire(id: string): void
}

const settlesAtOnce: ScenarioScript = {
  verifyRefusal: null,
  settle: { failure: null, pendingSeconds: 0 },
  reorg: null,
}

/** Fulfills the port without a database. */
export const createMemoryScenarios = (): MemoryScenarios => {
  const rows = new Map<string, Scenario>()
  return {
    create: (network, payer, script) => {
      const scenario: Scenario = {
        id: randomUUID(),
        network,
        payer,
        script: { ...settlesAtOnce, ...script },
        clockMs: 0,
        createdAt: new Date(),
        expiresAt: new Date(Date.now() + 3_600_000),
      }
      rows.set(scenario.id, scenario)
      return scenario
    },
    advance: (id, milliseconds) => {
      const scenario = rows.get(id)
      if (scenario === undefined) throw new Error('There is no such scenario')
      rows.set(id, { ...scenario, clockMs: scenario.clockMs + milliseconds })
    },
    expire: (id) => void rows.delete(id),
    findByPayer: async (network, payer) =>
      [...rows.values()].find((each) => each.network === network && each.payer === payer) ?? null,
    find: async (id) => rows.get(id) ?? null,
  }
}
