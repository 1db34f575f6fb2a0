//! Who wrote a log: from its fields, else from its file's name.

use crate::model::entity::workload_of_pod;

/// The name of a proxy that nothing names.
pub(super) const NOBODY: &str = "nginx";

/// A service and its instance; the instance may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity<'a> {
    pub(super) service: &'a str,
    pub(super) instance: &'a str,
}

/// From a file name: the first part of it that is a Kubernetes pod's name (`web-6d5c9f7b8-hx2wq.access.log`,
/// `web-6d5c9f7b8-hx2wq_shop_nginx-0123.log`).
pub(super) fn of_file(name: &str) -> Identity<'_> {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let pod = base
        .split(['.', '_'])
        .find_map(|part| workload_of_pod(part).map(|workload| (workload, part)));
    let (service, instance) = pod.unwrap_or((NOBODY, ""));
    Identity { service, instance }
}

/// From the fields of a line, with what the file's name says where they are silent.
pub(super) fn of_fields<'a>(
    pod: Option<&'a str>,
    service: Option<&'a str>,
    machine: Option<&'a str>,
    file: &Identity<'a>,
) -> Identity<'a> {
    let instance = pod.or(machine).unwrap_or(file.instance);
    let workload = pod.or(machine).and_then(workload_of);
    Identity {
        service: service.or(workload).unwrap_or(file.service),
        instance,
    }
}

/// The workload of a pod of any kind: of a `ReplicaSet`, of a `StatefulSet` (`gateway-0`), of a `DaemonSet`
/// (`ingress-x2k4v`: five characters of the alphabet that Kubernetes uses for random names).
fn workload_of(name: &str) -> Option<&str> {
    if let Some(workload) = workload_of_pod(name) {
        return Some(workload);
    }
    let (workload, last) = name.rsplit_once('-')?;
    let is_ordinal =
        !last.is_empty() && last.len() <= 3 && last.bytes().all(|b| b.is_ascii_digit());
    let is_random = last.len() == 5
        && last
            .bytes()
            .all(|b| b"bcdfghjklmnpqrstvwxz2456789".contains(&b))
        && last.bytes().any(|b| b.is_ascii_digit());
    ((is_ordinal || is_random) && !workload.is_empty() && !name.contains('.')).then_some(workload)
}

/// A JSON key `host` holds the machine or, as often, `$host`, the virtual host that was asked for. Only a bare name
/// (or EC2's `ip-…` names) is taken for a machine.
pub(super) fn machine_of_host(host: &str) -> Option<&str> {
    let is_bare = !host.contains(['.', ':', '/', '*']) && host != "localhost";
    (is_bare || host.starts_with("ip-")).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_of_pods_name_them() {
        let named = of_file("smartgateway-6d5c9f7b8-hx2wq.ingress.log.1");
        assert_eq!(named.service, "smartgateway");
        assert_eq!(named.instance, "smartgateway-6d5c9f7b8-hx2wq");
        assert_eq!(
            of_file("access.log"),
            Identity {
                service: NOBODY,
                instance: ""
            }
        );
    }

    #[test]
    fn fields_beat_the_file() {
        let file = of_file("access.log");
        let of = |pod, service, machine| {
            let it = of_fields(pod, service, machine, &file);
            (it.service.to_owned(), it.instance.to_owned())
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(of(Some("gw-0"), None, None), pair("gw", "gw-0"));
        assert_eq!(
            of(Some("ingress-nginx-controller-x2k4v"), None, None),
            pair("ingress-nginx-controller", "ingress-nginx-controller-x2k4v")
        );
        assert_eq!(of(None, Some("edge"), Some("web1")), pair("edge", "web1"));
        assert_eq!(of(None, None, Some("web1")), pair("nginx", "web1"));
        assert_eq!(machine_of_host("shop.example.com"), None);
    }
}
