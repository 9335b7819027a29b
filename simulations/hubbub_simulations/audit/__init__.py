"""Audits of encoders: exact, by driving them with all their random inputs, and empirical, from many reports.

``audit_exactly(metric)`` finds e^epsilon of one report from nothing but what the client's encoder does.
``audit_empirically(target, values, claimed, reports)`` bounds the epsilon of any function from below.
"""

from hubbub_simulations.audit.empirical import EmpiricalAudit, audit_empirically
from hubbub_simulations.audit.errors import AuditError
from hubbub_simulations.audit.exact import ExactAudit, audit_exactly
from hubbub_simulations.audit.targets import client_target

__all__ = ["AuditError", "EmpiricalAudit", "ExactAudit", "audit_empirically", "audit_exactly", "client_target"]
