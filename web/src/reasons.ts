import { useEffect } from 'preact/hooks'
import type { Schemas } from './api.js'
import { api } from './session.js'
import { createStore, useStore } from './store.js'

type ReasonEntry = Schemas['ReasonEntry']

const catalogue = createStore<ReadonlyMap<string, ReasonEntry>>(new Map())
let isAsked = false

/** Once while the page is open; if it fails, the next use asks again. */
const loadReasons = async (): Promise<void> => {
  if (isAsked) return
  isAsked = true
  const result = await api.get('/v1/reasons')
  isAsked = result.ok
  if (result.ok) catalogue.set(new Map(result.data.reasons.map((entry) => [entry.reason, entry])))
}

/** Of `GET /v1/reasons`; null until it arrives, and for what is no reason. */
export const useReason = (reason: string | null): ReasonEntry | null => {
  const known = useStore(catalogue)
  useEffect(() => {
    if (reason !== null) void loadReasons()
  }, [reason])
  return reason === null ? null : (known.get(reason) ?? null)
}
