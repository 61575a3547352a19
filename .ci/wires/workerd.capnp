using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "loopback", network = (allow = ["private"])),
  ],
);

const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2026-01-01",
  globalOutbound = "loopback",
  bindings = [(name = "WIRES_ADDRESS", fromEnvironment = "WIRES_ADDRESS")],
);
