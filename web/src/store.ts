import { useEffect, useReducer } from 'preact/hooks'

/** A value that components follow. */
export interface Store<Value> {
  get(): Value
  set(value: Value): void
  /** Returns a function that ends it. */
  subscribe(listener: () => void): () => void
}

export const createStore = <Value>(initial: Value): Store<Value> => {
  let current = initial
  const listeners = new Set<() => void>()
  return {
    get: () => current,
    set: (value) => {
      if (Object.is(value, current)) return
      current = value
      for (const listener of [...listeners]) listener()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export const useStore = <Value>(store: Store<Value>): Value => {
  const [, render] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    // It may have changed between rendering and this effect.
    render(undefined)
    return store.subscribe(() => render(undefined))
  }, [store])
  return store.get()
}
